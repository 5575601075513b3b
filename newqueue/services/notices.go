package services

import (
	"encoding/json"
	"fmt"
	"strconv"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// NoticeKind is something that breaks no demand and that an operator should
// know before the services take the tree.
type NoticeKind string

// The kinds.
const (
	MailsAtOnce   NoticeKind = "mails-at-once"    // a report is sent as soon as the hold is released
	MailsOldJobs  NoticeKind = "mails-old-jobs"   // the report lists jobs that were done before
	RemovedSoon   NoticeKind = "removed-soon"     // the hourly cleanup takes it away, held or not
	SkipsInit     NoticeKind = "skips-initialize" // an administrator's requeue leads past Initialize
	LostIfUnsized NoticeKind = "lost-if-unsized"  // Estimate may give it a priority past 99
)

// Notice is one of them, at one batch or job.
type Notice struct {
	Kind NoticeKind
	Item string
	What string
}

// estimateAdds is what Estimate adds to the priority of a manifest whose
// length it can't find out.
const estimateAdds = 10

// Notices are the notices on a tree.
func Notices(tree *znode.Tree) []Notice {
	var all []Notice
	add := func(kind NoticeKind, item, format string, args ...any) {
		all = append(all, Notice{kind, item, fmt.Sprintf(format, args...)})
	}
	for _, bid := range tree.Children(newqueue.BatchesPath) {
		count := func(f newqueue.BatchFolder) int { return len(tree.Children(newqueue.BatchFolderPath(bid, f))) }
		path := newqueue.BatchPath(bid)
		state := stateText(dataOf(tree, path+"/status"))
		working, done := count(newqueue.FolderProcessing), count(newqueue.FolderCompleted)+count(newqueue.FolderFailed)
		switch there := tree.Get(newqueue.BatchFolderPath(bid, newqueue.FolderProcessing)) != nil; {
		case !there:
		case working == 0 && (state == "Processing" || state == "Reporting"):
			add(MailsAtOnce, path, "all of its jobs are done and it is %s: its mail is sent as soon as the hold is released, again if it was sent before", state)
		case working == 0 && (state == "Completed" || state == "Deleted"):
			add(RemovedSoon, path, "it is %s: the hourly cleanup removes it and its jobs, although the queue is held", state)
		case working > 0 && done > 0:
			add(MailsOldJobs, path, "its mail will list jobs that were done before it was migrated: %d done, %d still to do", done, working)
		}
	}
	for _, jid := range tree.Children(newqueue.JobsPath) {
		path := newqueue.JobPath(jid)
		state := stateText(dataOf(tree, path+"/status"))
		if state == "Failed" {
			add(SkipsInit, path, "it is Failed: the admin tool's requeue leads to Estimating, past Initialize")
		}
		number, _ := strconv.Atoi(string(dataOf(tree, path+"/priority")))
		var configuration struct{ Type any }
		json.Unmarshal(dataOf(tree, path+"/configuration"), &configuration)
		early := state == "Pending" || state == "Held" || state == "Estimating" || state == "Failed"
		if early && configuration.Type == "manifest" && number+estimateAdds > 99 {
			add(LostIfUnsized, path, "its priority is %d: if the length of its manifest is not known, Estimate adds %d, and no daemon finds a priority of three digits", number, estimateAdds)
		}
	}
	return all
}

func stateText(status []byte) string {
	var s struct{ Status string }
	json.Unmarshal(status, &s)
	return s.Status
}
