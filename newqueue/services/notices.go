package services

import "fmt"

// NoticeKind is a kind of [Notice].
type NoticeKind string

// The kinds.
const (
	MailsAtOnce   NoticeKind = "mails-at-once"    // a report is sent as soon as the hold is released
	MailsOldJobs  NoticeKind = "mails-old-jobs"   // the report lists jobs that were done before the migration
	RemovedSoon   NoticeKind = "removed-soon"     // the hourly cleanup removes it, with or without a hold
	SkipsInit     NoticeKind = "skips-initialize" // an administrator's requeue skips Initialize
	LostIfUnsized NoticeKind = "lost-if-unsized"  // Estimate may give it a priority past 99
)

// Notice is something about one batch or job that violates no demand, but that an
// operator should know before the services start.
type Notice struct {
	Kind NoticeKind
	Item string // the path of the batch or job
	What string // for an operator
}

// estimateAdds is what Estimate adds to the priority of a manifest whose
// length it can't find out.
const estimateAdds = 10

// BatchNotices returns the notices about one batch that has states/batch-processing.
// They depend on the exact name of its state, on how many of its jobs are
// unfinished, and on how many are completed or failed.
func BatchNotices(path, state string, working, done int) []Notice {
	switch {
	case working == 0 && (state == "Processing" || state == "Reporting"):
		return notice(MailsAtOnce, path, "all of its jobs are done, and it is %s", state)
	case working == 0 && (state == "Completed" || state == "Deleted"):
		return notice(RemovedSoon, path, "it is %s: the hourly cleanup removes it and its jobs, although the queue is held", state)
	case working > 0 && done > 0:
		return notice(MailsOldJobs, path, "jobs of it that were done before the migration: %d; still to do: %d", done, working)
	}
	return nil
}

// JobNotices returns the notices about one job. They depend on the exact names of
// its state and its last successful state, on the type in its configuration, and
// on its priority.
func JobNotices(path, state string, last, kind any, priority int) []Notice {
	var all []Notice
	if state == "Failed" && (last == nil || last == "" || last == "Pending") {
		all = notice(SkipsInit, path, "it is Failed: if it is requeued with the admin tool, it goes on with Estimating and skips Initialize")
	}
	early := state == "Pending" || state == "Held" || state == "Estimating" || state == "Failed"
	if early && kind == "manifest" && priority+estimateAdds > 99 {
		all = append(all, notice(LostIfUnsized, path, "its priority is %d: if the length of its manifest is not known, Estimate adds %d, and no daemon finds a priority of three digits", priority, estimateAdds)...)
	}
	return all
}

func notice(kind NoticeKind, item, format string, args ...any) []Notice {
	return []Notice{{kind, item, fmt.Sprintf(format, args...)}}
}
