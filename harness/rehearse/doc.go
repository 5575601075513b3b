// Package rehearse rehearses a migration on a disposable ZooKeeper, before the cutover. It copies
// a legacy queue there, plans, migrates, verifies and releases, and then simulated workers
// ([mrtq/harness/daemons]) work the queue to its end, while some fail, are killed or lose their
// sessions. What they did is compared with what the plan had predicted: the work of each record
// is done once, or fails as told; in the old queue's order; each batch is reported once; and
// nothing is left. Where the plan says that the services may lose a job because they can't find out a
// length, they can't.
//
//	copy.go      the copy of the source
//	stage.go     the disposable server, and sessions with it
//	work.go      the workers, and what disturbs them
//	predict.go   what the plan says of each record and batch (pure)
//	compare.go   what was predicted against what was seen (pure)
//	order.go     the order in which records were begun (pure)
//	rehearse.go  the first copy, from the plan to the end
//	back.go      the second copy, which is rolled back half way
//	cutover.go   what the cutover will be (pure)
//	report.go    what a rehearsal found
//	submit.go    a depositor, and follow in a rehearsal
//	practice.go  workers for people who practise
package rehearse
