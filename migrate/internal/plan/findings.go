package plan

import (
	"cmp"
	"fmt"
	"slices"

	"mrtq/internal/layout/merritt/services"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

func (b *Builder) find(key string, one migration.Finding, item migration.FindingItem) {
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
	b.find(kind, migration.Finding{Kind: kind, Effect: migration.EffectWarning}, migration.FindingItem{Path: path, What: what})
}

func (b *Builder) violation(v services.Violation, path string) {
	one := migration.Finding{Kind: v.Requirement.ID, Effect: migration.EffectWarning, Then: v.Stop.String()}
	if v.Stop.Effect.Blocking() {
		one.Effect, one.Choice = migration.EffectUnfit, "unserviceable"
	}
	b.find(fmt.Sprint(v.Requirement.ID, v.Requirement.Node, v.Requirement.Key, v.Stop), one, migration.FindingItem{Path: path, What: v.What})
}

// What the notices of the services come to, and the choices that prevent what they say.
var (
	noticeEffects = map[string]migration.Effect{"lost-if-unsized": migration.EffectLost, "lost-if-requeued": migration.EffectLost, "skips-initialize": migration.EffectStoredEmpty, "removed-soon": migration.EffectRemovedSoon}
	prevents      = map[string]string{"lost-if-unsized": "max-priority", "lost-if-requeued": "max-priority"}
)

func (b *Builder) notice(n services.Notice, path string) {
	b.find(n.Kind, migration.Finding{Kind: n.Kind, Effect: cmp.Or(noticeEffects[n.Kind], migration.EffectWarning), Then: n.Then, Choice: prevents[n.Kind]}, migration.FindingItem{Path: path, What: n.What})
}

// undone are the findings about records that were not done, by what they were and become. A worker may be working on a
// consumed record, or may have died: the record doesn't say which. What a worker did of a failed record before
// it failed is done again.
var undone = map[string]migration.Finding{
	"consumed-pending": {Effect: migration.EffectRunsTwice, What: "consumed by a legacy worker, and the job begins again: it might run twice",
		Then: "stop the legacy workers, and find out what they did; with --consumed held the job waits"},
	"failed-pending": {Effect: migration.EffectRunsTwice, What: "failed in a legacy worker, and the job begins again: it might run twice",
		Then: "find out what the worker did; with --failed held the job waits"},
	"consumed-held": {Effect: migration.EffectNeverRuns, What: "consumed, and the job is held: it might never run",
		Then: "find out what the legacy worker did, and have an administrator release the job or delete it; with --consumed pending it might run twice"},
	"failed-held": {Effect: migration.EffectNeverRuns, What: "failed, and the job is held: it might never run",
		Then: "find out why it failed, and have an administrator release the job or delete it; with --failed pending it might run twice"},
	"consumed-failed": {Effect: migration.EffectNeverRuns, What: "consumed, and the job is failed: it might never run",
		Then: "find out what the legacy worker did, and have an administrator requeue the job or delete it; with --consumed pending it might run twice"},
	"failed-failed": {Effect: migration.EffectNeverRuns, What: "failed, and the job is failed, too: it might never run",
		Then: "find out why it failed, and have an administrator requeue the job or delete it; with --failed pending it might run twice"},
	"consumed-left": {Effect: migration.EffectLeftUndone, What: "consumed: left to the legacy worker that has it",
		Then: "let the worker finish; if it died, find out what it did, requeue or delete the record in the legacy queue, and plan again; with --consumed held the job waits for an administrator, with pending it might run twice"},
	"undecodable": {Effect: migration.EffectLeftUndone, What: "undecodable: only the bytes are kept, in the quarantine file", Then: "have the depositor or requester submit it again"},
}

func (b *Builder) findUndone(r *migration.PlanRecord) {
	kind := r.Status + "-pending"
	switch waits := []string{string(newqueue.JobHeld), string(newqueue.JobFailed)}; {
	case r.Action == migration.ActionQuarantine:
		kind = "undecodable"
	case r.Action == migration.ActionSkip && r.Reason != cameLater:
		kind = r.Status + "-left"
	case r.Action != migration.ActionCreate:
		return
	case slices.Contains(waits, r.State):
		kind = r.Status + "-" + r.State
	}
	if f, known := undone[kind]; known {
		f.Kind = kind
		b.find(kind, f, migration.FindingItem{Path: r.Path, What: f.What})
	}
}
