package services

import (
	"fmt"
	"slices"
	"strings"

	"mrtq/newqueue"
)

// Notice is something about one batch or job that violates no requirement, but that an
// operator should know before the services start.
type Notice struct {
	Kind string `json:"kind"` // "emails-at-once"
	What string `json:"what"` // what is so, for an operator
	Then string `json:"then"` // what will happen, and what can be done; the same for all of a kind
}

// BatchNotices returns the notice about a batch that has states/batch-processing, if there is one. state is the
// exact name. working and done are how many of its jobs are unfinished, and completed or failed.
func BatchNotices(state string, working, done int) []Notice {
	var n noted
	isOver := working == 0
	n.add(isOver && (state == "Processing" || state == "Reporting"), "emails-at-once",
		"as soon as the hold is released, the depositor gets an email about it, even if they got one before",
		"all of its jobs are done, and it is %s", state)
	n.add(isOver && (state == "Completed" || state == "Deleted"), "removed-soon",
		"removed within the hour: the hold on the queue does not stop the cleanup",
		"it is %s", state)
	n.add(!isOver && done > 0, "emails-old-jobs",
		"when all are done, the depositor gets one email about the batch, which lists all of its jobs",
		"some jobs were done before the migration, and others are still to do")
	return n.all
}

// estimateAdds is what Estimate adds to the priority of a manifest whose
// length it can't find out.
const estimateAdds = 10

// JobNotices returns the notices about a job. What they rely on was seen in the services
// (docs/deployed-services.md, "Failed jobs", "The payload" and "Ids"). consumed says that a legacy worker had begun it.
func JobNotices(it Item, priority int, consumed bool) []Notice {
	it.classify()
	var n noted
	last := it.value("status", "last_successful_status")
	early := it.text("configuration", "type") == "manifest" && OfEarlyJob.has(&it) // Estimate and Download have yet to work on it
	n.add(it.state == "Failed" && (last == nil || last == "" || last == "Pending"), "skips-initialize",
		"unless its payload is in producer/ already, its object would be stored without its content, and reported as done; a held job is safer",
		"it is Failed: if it is requeued, it goes on with Estimating and skips Initialize")
	once, twice := priority+estimateAdds, priority+2*estimateAdds
	n.add(early && once > newqueue.MaxPriority, "lost-if-unsized",
		"it could be lost in Estimating, for good: --max-priority 89 or 79 prevents that",
		"its priority is %d: if the length of its manifest is not known, Estimate adds %d, and no daemon finds a priority of three digits", priority, estimateAdds)
	n.add(early && once <= newqueue.MaxPriority && twice > newqueue.MaxPriority, "lost-if-requeued",
		"it could be lost in Estimating, for good, when it is there for the second time: --max-priority 79 prevents that",
		"its priority is %d: if the length of its manifest is not known, Estimate adds %d each time, also after a requeue, and no daemon finds a priority of three digits", priority, estimateAdds)
	n.add(consumed && early, "repeats-download",
		"Download fails if it has begun before: have its producer/ emptied before it runs; a held job waits for that",
		"a legacy worker had begun this manifest, perhaps to download it")
	ids, unfinished := stringsIn(it.value("identifiers", "local_id")), !it.isDone()
	if i := slices.IndexFunc(ids, garbled); i >= 0 {
		n.add(unfinished, "garbles-local-id",
			"the services write the escapes of JSON into it, and hand it on so; correct it with the local id service afterwards",
			"its local id %.80q has characters that the services garble", ids[i])
	}
	profile, primary := it.text("configuration", "profile"), it.value("identifiers", "primary_id")
	n.add(unfinished && strings.HasPrefix(profile, "demo_") && primary != nil && primary != "", "mints-id",
		"the supplied primary id becomes a local id, and the object gets a new primary id",
		"its profile %.80q begins with demo_, and it has a primary id", profile)
	return n.all
}

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

type noted struct{ all []Notice }

func (n *noted) add(so bool, kind, then, what string, args ...any) {
	if so {
		n.all = append(n.all, Notice{kind, fmt.Sprintf(what, args...), then})
	}
}
