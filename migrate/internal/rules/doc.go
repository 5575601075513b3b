// Package rules says what becomes of a legacy record: which job or access request, in
// which state, with which znodes, and in which batch. It has no I/O. Everything here is a
// table, or a function from values to values (docs/migration.md).
//
// A record's way through this package:
//
//	record.go         the record, and the queue that it was in
//	choice.go         the choices that only the operator can make; what is done with a record
//	state.go          queue × legacy status → the state in which its job or request begins
//	job.go            record → the znodes of its job or access request, and what they keep of it for people
//	configuration.go  record → the job's configuration, key by key
//	batch.go          the batch that a job belongs to, and the batch's znodes
//	submission.go     records of a batch → its submission
//	readback.go       znodes → record, by rules of its own
package rules
