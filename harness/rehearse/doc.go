// Package rehearse rehearses a migration on a disposable ZooKeeper, before the cutover. It copies a legacy queue there, migrates and
// releases it, and simulated workers ([mrtq/harness/daemons]) work the new queue to its end, while a depositor submits more. A second copy
// is rolled back midway. What was seen is compared with what the plan predicts of each record and batch: the kinds of [Difference] are the table of that.
package rehearse
