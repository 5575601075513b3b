// Package handover passes records and jobs from one queue to the other, so that the work of a record is in one
// of them alone: a release hands the record over to its job, or withdraws the job, and a rollback gives
// the record back. What becomes of each says package standing.
//
//	pieces.go      the transactions: hand over, withdraw, give back
//	batches.go     batches that are left empty
//	activity.go    who works in the legacy queue
//	permission.go  whether the session may do it
package handover

import (
	"cmp"
	"crypto/sha256"

	"mrtq/internal/znode"
	"mrtq/migrate/internal/apply"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/standing"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// Piece returns what carries out the decision about a record and its job, in one transaction with its line in the ledger. ok is false if
// nothing is to be done.
func Piece(c *standing.Standing) (p apply.Piece, ok bool) {
	kept := c.KeptNode
	e, line := c.Entry, ledger.Line{Record: c.Entry.Record, Job: c.Entry.Job}
	record := c.Run.Origin.Path(cmp.Or(c.RecordRead.Path, e.Record)) // it may have another name now
	var ops []znode.Op
	switch c.Action {
	case standing.HandOver:
		line.Kind, line.Kept, line.Hash = ledger.HandedOver, true, ledger.HashOf(c.RecordRead.SHA256())
		ops = append(ops, znode.Delete(record, c.RecordRead.Stat.Version))
		switch {
		case kept.Path == "":
			ops = append(ops, znode.Op{Kind: znode.OpCreate, Path: c.Run.KeptPath(e.Job), Data: c.RecordRead.Data, ACL: c.RecordRead.ACL})
		case c.Kept: // it was handed over before, and is there again
			line.Hash = ledger.HashOf(sha256.Sum256(kept.Data))
		default: // somebody has changed what was kept
			ops = append(ops, znode.Set(kept.Path, c.RecordRead.Data, kept.Stat.Version))
		}
		ops = znode.Outside(ops...)
		if c.Job != standing.Gone {
			ops = append(ops, znode.Check(e.Job, -1)) // it is there, so the work is not lost
		}
	case standing.Mark:
		line.Kind, line.Kept, line.Hash = ledger.HandedOver, c.Kept && kept.Path != "", e.Hash
		if c.Job != standing.Gone {
			ops = append(ops, znode.Check(e.Job, -1))
		}
	case standing.Withdraw, standing.GiveBack:
		line.Kind = ledger.JobRemoved
		ops = target.DeleteOps(c.JobRead.All())
		p.Removed = migration.Counts{Jobs: 1}
		if znode.Within(e.Job, newqueue.AccessPath) {
			p.Removed = migration.Counts{Access: 1}
		}
		if c.Kept && kept.Path != "" {
			ops = append(ops, znode.Outside(znode.Delete(kept.Path, kept.Stat.Version))...)
		}
		switch {
		case c.Action == standing.GiveBack && c.Record == standing.Absent:
			ops = append(ops, znode.Outside(znode.Op{Kind: znode.OpCreate, Path: record, Data: kept.Data, ACL: kept.ACL})...)
		case c.RecordRead.There: // the work stays with the record
			ops = append(ops, znode.Outside(znode.Check(record, c.RecordRead.Stat.Version))...)
		}
	default:
		return p, false
	}
	p.Build = func([]string) ([]znode.Op, []ledger.Line) { return ops, []ledger.Line{line} }
	return p, true
}
