package plan

import (
	"fmt"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// lookAt looks at the content of one more record. migrated says that the plan leaves its job as it is.
func (b *Builder) lookAt(f source.Fetched, migrated bool) {
	if migrated {
		for _, path := range f.Below {
			b.warn("below-record", path, "a znode below a record: it is not part of the record and is not migrated")
		}
	}
	r := f.Record
	if r.Err != nil {
		return
	}
	if r.Legacy.Key.Skipped() {
		b.warn("wrapped", r.Path, "its sequence number has wrapped: the legacy consumer could never read it, so its job still waits")
	}
	if r.Queue == migration.Inventory && rules.Text(r.Legacy.Payload, "manifestURL") == "" {
		b.warn("no-manifest", r.Path, "an inventory record without manifestURL: no service can record it")
	}
	if id := rules.Text(r.Legacy.Payload, "jobID"); id != "" && r.Legacy.Header.Status == legacy.Consumed {
		b.byJobID[id] = max(b.byJobID[id], r.Path)
	}
}

// Bounds for [Builder.checkSize]. JSON writes a byte as at most six, and a text may be in a job
// three times. smallJob covers the rest of a job. reserve is what a transaction has beside
// a job: the run's record, the ledger's entry, the layout, and what a server adds when it
// logs and proposes the transaction.
const (
	escapeGrowth = 6 * 3
	smallJob     = 8 << 10
	reserve      = 24 << 10
	maxChroot    = 256
)

func (b *Builder) checkSize(r migration.Record, s rules.State, batch *Batch) {
	limit := b.plan.Settings.MaxBuffer - reserve
	if len(r.Data)*escapeGrowth+smallJob < limit {
		return
	}
	what, size := "handing it over takes", len(r.Data)+2*(len(r.Path)+maxChroot)
	if size <= limit {
		what = "its job and its kept bytes take" // follow makes a job and hands over its record at once
		if b.in.Run == nil {
			what, size = "its job takes", 0
		}
		job := rules.Job{Record: r, State: s, Priority: b.plan.Choices.Priority(r), Run: b.plan.Run, ID: newqueue.SequenceID(newqueue.JobPrefix, 0), Batch: newqueue.SequenceID(newqueue.BatchPrefix, 0)}
		nodes := job.Nodes(b.plan.Dialect)
		if batch != nil && batch.New {
			nodes = append(nodes, batch.All.Nodes(b.plan.Dialect)...)
		}
		for _, n := range nodes {
			size += znode.Op{Kind: znode.OpCreate, Path: n.Path, Data: n.Data, ACL: b.plan.Settings.ACL}.Size(maxChroot)
		}
	}
	if size > limit {
		b.problem(migration.Problem{Kind: migration.ProblemTooLarge, Path: r.Path, Message: fmt.Sprintf("%s %d bytes in one transaction, but the server's limit leaves %d", what, size, limit),
			Next: "raise jute.maxbuffer on the servers, and plan with the same number"})
	}
}
