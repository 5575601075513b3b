package migration

import (
	"strings"

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
	EffectLost        Effect = "might be lost"       // no worker would find the job any more
	EffectUnfit       Effect = "cannot be processed" // it blocks the plan, unless its choice allows it
	EffectRunsTwice   Effect = "might run twice"
	EffectNeverRuns   Effect = "might never run" // only if an administrator releases or requeues the job
	EffectStoredEmpty Effect = "might be stored empty if requeued"
	EffectRemovedSoon Effect = "batches removed within the hour"
	EffectLeftUndone  Effect = "left undone"
	EffectWarning     Effect = "warning"
)

// Effects are all effects, the gravest first.
var Effects = []Effect{EffectLost, EffectUnfit, EffectRunsTwice, EffectNeverRuns, EffectStoredEmpty, EffectRemovedSoon, EffectLeftUndone, EffectWarning}
