package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/layout/merritt/services"
	"mrtq/newqueue"
)

// Finding is one thing that an operator should know, and the records or batches that it is about.
type Finding struct {
	// Kind is what was found, in one word. A demand of the deployed services has its requirement, R01 to R33.
	Kind   string `json:"kind"`
	Effect Effect `json:"effect"`
	What   string `json:"what"` // of the first item
	Then   string `json:"then"` // what would happen after the release, or what to do; may be ""
	// Choice is the choice that allows or prevents it, "" if there is none.
	Choice string        `json:"choice,omitempty"`
	Items  []FindingItem `json:"items"`
}

// FindingItem is one record that a finding is about, or one batch.
type FindingItem struct {
	Path string `json:"path"`           // of the legacy record, or of the batch below /batch-uuids
	What string `json:"what,omitempty"` // if it is not that of the finding
}

// Names returns what people know the items by: the paths of records, and the batchIDs of batches.
func (f Finding) Names() []string {
	names := make([]string, len(f.Items))
	for i, item := range f.Items {
		names[i] = strings.TrimPrefix(item.Path, newqueue.BatchUUIDsPath+"/")
	}
	return names
}

// Effect is what a finding comes to.
type Effect string

// The effects.
const (
	Lost        Effect = "might be lost"       // no worker would find the job any more
	Unfit       Effect = "cannot be processed" // it blocks the plan, unless its choice allows it
	RunsTwice   Effect = "might run twice"
	NeverRuns   Effect = "might never run" // only if an administrator releases or requeues the job
	StoredEmpty Effect = "might be stored empty if requeued"
	RemovedSoon Effect = "batches removed within the hour"
	LeftUndone  Effect = "left undone"
	Warning     Effect = "warning"
)

// Effects are all effects, the gravest first.
var Effects = []Effect{Lost, Unfit, RunsTwice, NeverRuns, StoredEmpty, RemovedSoon, LeftUndone, Warning}

func (b *Builder) find(key string, one Finding, item FindingItem) {
	f := b.found[key]
	if f == nil {
		f = &one
		f.What, b.found[key], b.kinds = item.What, f, append(b.kinds, key)
	}
	if item.What == f.What {
		item.What = ""
	}
	f.Items = append(f.Items, item)
}

func (b *Builder) warn(kind, path, what string) {
	b.find(kind, Finding{Kind: kind, Effect: Warning}, FindingItem{Path: path, What: what})
}

func (b *Builder) violation(v services.Violation, path string) {
	one := Finding{Kind: v.Requirement.ID, Effect: Warning, Then: v.Stop.String()}
	if v.Stop.Effect.Blocking() {
		one.Effect, one.Choice = Unfit, "unserviceable"
	}
	b.find(fmt.Sprint(v.Requirement.ID, v.Requirement.Node, v.Requirement.Key, v.Stop), one, FindingItem{Path: path, What: v.What})
}

// What the notices of the services come to, and the choices that prevent what they say.
var (
	noticeEffects = map[string]Effect{"lost-if-unsized": Lost, "lost-if-requeued": Lost, "skips-initialize": StoredEmpty, "removed-soon": RemovedSoon}
	prevents      = map[string]string{"lost-if-unsized": "max-priority", "lost-if-requeued": "max-priority"}
)

func (b *Builder) notice(n services.Notice, path string) {
	b.find(n.Kind, Finding{Kind: n.Kind, Effect: cmp.Or(noticeEffects[n.Kind], Warning), Then: n.Then, Choice: prevents[n.Kind]}, FindingItem{Path: path, What: n.What})
}

// undone are the findings about records that were not done, by what they were and become. A worker may be working on a
// consumed record, or may have died: the record doesn't say which. What a worker did of a failed record before
// it failed is done again.
var undone = map[string]Finding{
	"consumed-pending": {Effect: RunsTwice, What: "consumed by a legacy worker, and the job begins again: it might run twice",
		Then: "stop the legacy workers, and find out what they did; with --consumed held the job waits"},
	"failed-pending": {Effect: RunsTwice, What: "failed in a legacy worker, and the job begins again: it might run twice",
		Then: "find out what the worker did; with --failed held the job waits"},
	"consumed-held": {Effect: NeverRuns, What: "consumed, and the job is held: it might never run",
		Then: "find out what the legacy worker did, and have an administrator release the job or delete it; with --consumed pending it might run twice"},
	"failed-held": {Effect: NeverRuns, What: "failed, and the job is held: it might never run",
		Then: "find out why it failed, and have an administrator release the job or delete it; with --failed pending it might run twice"},
	"consumed-failed": {Effect: NeverRuns, What: "consumed, and the job is failed: it might never run",
		Then: "find out what the legacy worker did, and have an administrator requeue the job or delete it; with --consumed pending it might run twice"},
	"failed-failed": {Effect: NeverRuns, What: "failed, and the job is failed, too: it might never run",
		Then: "find out why it failed, and have an administrator requeue the job or delete it; with --failed pending it might run twice"},
	"consumed-left": {Effect: LeftUndone, What: "consumed: left to the legacy worker that has it",
		Then: "let the worker finish; if it died, find out what it did, requeue or delete the record in the legacy queue, and plan again; with --consumed held the job waits for an administrator, with pending it might run twice"},
	"undecodable": {Effect: LeftUndone, What: "undecodable: only the bytes are kept, in the quarantine file", Then: "have the depositor or requester submit it again"},
}

func (b *Builder) findUndone(r *Record) {
	kind := r.Status + "-pending"
	switch waits := []string{string(newqueue.JobHeld), string(newqueue.JobFailed)}; {
	case r.Action == Quarantine:
		kind = "undecodable"
	case r.Action == Skip && r.Reason != isLate:
		kind = r.Status + "-left"
	case r.Action != Create:
		return
	case slices.Contains(waits, r.State):
		kind = r.Status + "-" + r.State
	}
	if f, known := undone[kind]; known {
		f.Kind = kind
		b.find(kind, f, FindingItem{Path: r.Path, What: f.What})
	}
}
