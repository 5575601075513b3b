package services

import (
	"fmt"
	"slices"
	"strings"

	"mrtq/newqueue"
)

// Notice is something about one batch or job that violates no demand, but that an
// operator should know before the services start.
type Notice struct {
	Kind string // "mails-at-once"
	What string // what is so, for an operator
	Then string // what will happen, and what can be done; the same for all of a kind
}

// BatchFacts are what the notices about a batch that has states/batch-processing depend on.
type BatchFacts struct {
	State         string // the exact name
	Working, Done int    // how many of its jobs are unfinished, and completed or failed
}

// batchNotices are the notices about a batch; the first that applies is given.
var batchNotices = []notice[BatchFacts]{
	{"mails-at-once", "as soon as the hold is released, the depositor gets a mail about it, even if they got one before", func(b BatchFacts) string {
		return when(b.Working == 0 && (b.State == "Processing" || b.State == "Reporting"), "all of its jobs are done, and it is %s", b.State)
	}},
	{"removed-soon", "removed within the hour: the hold on the queue does not stop the cleanup", func(b BatchFacts) string {
		return when(b.Working == 0 && (b.State == "Completed" || b.State == "Deleted"), "it is %s: the hourly cleanup removes it and its jobs, although the queue is held", b.State)
	}},
	{"mails-old-jobs", "when all are done, the depositor gets one mail about it, which lists all of its jobs", func(b BatchFacts) string {
		return when(b.Working > 0 && b.Done > 0, "%d of its jobs were done before the migration, and %d are still to do", b.Done, b.Working)
	}},
}

// BatchNotices returns the notices about a batch.
func BatchNotices(b BatchFacts) []Notice {
	all := notices(batchNotices, b)
	return all[:min(1, len(all))]
}

// JobFacts are what the notices about a job depend on.
type JobFacts struct {
	State                      string // the exact name
	Last                       any    // last_successful_status
	Configuration, Identifiers Values
	Priority                   int
	Consumed                   bool // a legacy worker had begun it
}

// jobNotices are the notices about a job. What they rely on was seen in the services (docs/deployed-services.md,
// "The payload" and "Ids").
var jobNotices = []notice[JobFacts]{
	{"skips-initialize", "unless its payload is in producer/ already, its object would be stored without its content, and reported as done; a held job is safer", func(j JobFacts) string {
		return when(j.State == "Failed" && (j.Last == nil || j.Last == "" || j.Last == "Pending"), "it is Failed: if it is requeued, it goes on with Estimating and skips Initialize")
	}},
	{"lost-if-unsized", "it could be lost in Estimating, for good: --max-priority 89 or 79 prevents that", func(j JobFacts) string {
		return when(j.early() && j.isManifest() && j.Priority+estimateAdds > newqueue.MaxPriority,
			"its priority is %d: if the length of its manifest is not known, Estimate adds %d, and no daemon finds a priority of three digits", j.Priority, estimateAdds)
	}},
	{"lost-if-requeued", "it could be lost in Estimating, for good, when it is there for the second time: --max-priority 79 prevents that", func(j JobFacts) string {
		once, twice := j.Priority+estimateAdds, j.Priority+2*estimateAdds
		return when(j.early() && j.isManifest() && once <= newqueue.MaxPriority && twice > newqueue.MaxPriority,
			"its priority is %d: if the length of its manifest is not known, Estimate adds %d each time, also after a requeue, and no daemon finds a priority of three digits", j.Priority, estimateAdds)
	}},
	{"repeats-download", "Download fails if it has begun before: have its producer/ emptied before it runs; a held job waits for that", func(j JobFacts) string {
		return when(j.Consumed && j.early() && j.isManifest(), "a legacy worker had begun this manifest, perhaps to download it")
	}},
	{"garbles-local-id", "the services write the escapes of JSON into it, and hand it on so; correct it with the local id service afterwards", func(j JobFacts) string {
		id, found := j.localID(garbled)
		return when(j.unfinished() && found, "its local id %.80q has characters that the services garble", id)
	}},
	{"mints-id", "the supplied primary id becomes a local id, and the object gets a new primary id", func(j JobFacts) string {
		primary, _ := j.Identifiers.Value("primary_id")
		return when(j.unfinished() && strings.HasPrefix(j.text("profile"), "demo_") && primary != nil && primary != "", "its profile %.80q begins with demo_, and it has a primary id", j.text("profile"))
	}},
}

// estimateAdds is what Estimate adds to the priority of a manifest whose
// length it can't find out.
const estimateAdds = 10

// JobNotices returns the notices about a job.
func JobNotices(j JobFacts) []Notice { return notices(jobNotices, j) }

// early reports whether Estimate and Download have yet to work on the job.
func (j JobFacts) early() bool {
	return slices.Contains([]string{"Pending", "Held", "Estimating", "Failed"}, j.State)
}

func (j JobFacts) unfinished() bool { return j.State != "Completed" && j.State != "Deleted" }

func (j JobFacts) isManifest() bool { return j.text("type") == "manifest" }

// text is a string of the configuration, "" if there is none.
func (j JobFacts) text(key string) string {
	v, _ := j.Configuration.Value(key)
	s, _ := v.(string)
	return s
}

// localID is the first local id of which something is so.
func (j JobFacts) localID(is func(string) bool) (id string, found bool) {
	v, _ := j.Identifiers.Value("local_id")
	for _, id := range stringsIn(v) {
		if is(id) {
			return id, true
		}
	}
	return "", false
}

// stringsIn are the strings of a list.
func stringsIn(list any) (all []string) {
	values, _ := list.([]any)
	for _, v := range values {
		if s, ok := v.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// garbled reports whether org.json writes a string with an escape: the services remove the
// quotes and keep the escapes.
func garbled(id string) bool {
	return strings.Contains(id, "</") || strings.ContainsFunc(id, func(r rune) bool {
		return r == '"' || r == '\\' || r < ' ' || r >= 0x80 && r < 0xa0 || r >= 0x2000 && r < 0x2100
	})
}

// notice is one row: what mrtq tells an operator if the function what returns words.
type notice[F any] struct {
	kind, then string
	what       func(F) string
}

func notices[F any](rows []notice[F], facts F) (all []Notice) {
	for _, n := range rows {
		if what := n.what(facts); what != "" {
			all = append(all, Notice{n.kind, what, n.then})
		}
	}
	return all
}

// when is the text if something is so, else "".
func when(so bool, format string, args ...any) string {
	if !so {
		return ""
	}
	return fmt.Sprintf(format, args...)
}
