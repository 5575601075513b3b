package rehearse

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/daemons"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// oneIn is of how many pending ingest records of a rehearsal a copy comes after the release.
const oneIn = 10

// newDepositor returns a depositor with a model for each record that is to come: of those with which the plan finds nothing wrong.
func (p *attempt) newDepositor() *daemons.Depositor {
	var some []string
	n := 0
	for _, f := range p.records[:p.planned] {
		ingest := slices.Contains(p.copy.Queues.Nodes[migration.Ingest], znode.Parent(f.Path)) && f.Status == legacy.Pending.String()
		small := 3*len(p.copy.Tree.Get(f.Path).Data) < cmp.Or(p.opt.Plan.MaxBuffer, migration.DefaultMaxBuffer) // follow moves a record and its kept bytes at once
		if ingest && small && f.Runs && !f.Told {
			if n++; n%oneIn == 1 {
				some = append(some, f.Path)
			}
		}
	}
	return daemons.NewDepositor(p.copy.Tree, some, p.copy.Legacy)
}

// arrive lets a depositor submit n records, and follow moves them. Then they are predicted, too.
func (p *attempt) arrive(ctx context.Context, d *daemons.Depositor, n int) error {
	keys := map[string]string{}
	for range n {
		path, key, err := d.Submit(p.crew.World)
		switch {
		case err == nil:
			keys[path] = key
		case !errors.Is(err, zk.ErrNodeExists):
			return err
		}
	}
	became := map[string]migration.Followed{}
	_, err := migrate.Follow(ctx, p.new, migrate.FollowOptions{Once: true, Every: time.Second, MaxBuffer: p.opt.Plan.MaxBuffer, Each: func(r migration.Followed) { became[r.Record] = r }})
	if err != nil {
		return err
	}
	p.crew.forget()
	for _, path := range slices.Sorted(maps.Keys(keys)) {
		is := became[path]
		if is.Fate != migration.FateMoves {
			p.differ(Difference{Never, path, "it came after the release, and follow does not move it: " + is.Why})
			continue
		}
		p.records = append(p.records, prediction{Path: path, Key: keys[path], Status: legacy.Pending.String(), State: string(newqueue.JobPending), Job: is.Job, Batch: is.Batch, Runs: true})
		p.due++
		if p.batches[is.Batch] == nil {
			p.batches[is.Batch] = &batch{ID: is.Batch, Reports: true}
		}
	}
	return nil
}
