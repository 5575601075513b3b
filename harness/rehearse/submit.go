package rehearse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/harness/daemons"
	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// depositor submits copies of pending ingest records to the legacy queue. Each has a jobID of its own, and every
// second one a batchID of its own.
type depositor struct {
	models    []model
	submitted int
}

type model struct {
	prefix  string // of the path, before the number that the server adds
	payload legacy.Payload
}

// newDepositor returns a depositor who submits copies of those of these records that are pending. Deposits are JSON: what that can't hold is left out.
func newDepositor(tree *znode.Tree, records []string, opt legacy.Options) *depositor {
	d := &depositor{}
	for _, path := range records {
		r, err := legacy.Decode(znode.Name(path), tree.Get(path).Data, opt)
		if err != nil || r.Header.Status != legacy.Pending {
			continue
		}
		if _, err := legacyqueue.Encode(r.Header, legacy.JSON, r.Payload); err == nil {
			d.models = append(d.models, model{strings.TrimSuffix(path, fmt.Sprintf("%010d", r.Key.Sequence)), r.Payload})
		}
	}
	return d
}

// submit submits the next record, and returns its path and its key. The error is one of [daemons.World.Submit]; then the next call submits a copy of
// another record.
func (d *depositor) submit(w *daemons.World) (path, key string, err error) {
	m := d.models[d.submitted%len(d.models)]
	d.submitted++
	p := maps.Clone(m.payload)
	for i, id := range []string{"jobID", "batchID"} {
		if is, _ := p.Text(id); d.submitted%(i+1) == 0 {
			p[id] = fmt.Sprintf("%s-again-%d", is, d.submitted)
		}
	}
	data, err := legacyqueue.Encode(legacy.NewHeader(legacy.Pending, time.Now(), legacy.Milliseconds), legacy.JSON, p)
	if err == nil {
		path, err = w.Submit(m.prefix, data)
	}
	return path, daemons.LegacyKey(p), err
}

// oneIn is of how many pending ingest records of a rehearsal a copy comes after the release.
const oneIn = 10

// newDepositor returns a depositor with a model for each record that is to come: of those with which the plan finds nothing wrong.
func (p *attempt) newDepositor() *depositor {
	var pending []string
	for _, f := range p.records[:p.planned] {
		ingest := slices.Contains(p.copy.Queues.Nodes[migration.Ingest], znode.Parent(f.Path)) && f.Status == legacy.Pending.String()
		small := 3*len(p.copy.Tree.Get(f.Path).Data) < cmp.Or(p.options.MaxBuffer, migration.DefaultMaxBuffer) // follow moves a record and its kept bytes at once
		if ingest && small && f.Runs && f.Told == "" {
			pending = append(pending, f.Path)
		}
	}
	var some []string
	for i := 0; i < len(pending); i += oneIn {
		some = append(some, pending[i])
	}
	return newDepositor(p.copy.Tree, some, p.copy.Legacy)
}

// arrive lets a depositor submit n records, and follow moves them. Then they are predicted, too.
func (p *attempt) arrive(ctx context.Context, crew *crew, d *depositor, n int) error {
	keys := map[string]string{}
	for range n {
		path, key, err := d.submit(crew.World)
		switch {
		case err == nil:
			keys[path] = key
		case !errors.Is(err, zk.ErrNodeExists):
			return err
		}
	}
	became := map[string]migration.Followed{}
	_, err := migrate.Follow(ctx, p.new, migrate.FollowOptions{Once: true, Every: time.Second, MaxBuffer: p.options.MaxBuffer, Each: func(r migration.Followed) { became[r.Record] = r }})
	if err != nil {
		return err
	}
	crew.newQueue.Forget()
	crew.old.Forget()
	for _, path := range slices.Sorted(maps.Keys(keys)) {
		is := became[path]
		if is.Fate != migration.FateMoves {
			p.differ(Difference{Never, path, "it came after the release, and follow does not move it: " + is.Why})
			continue
		}
		p.records = append(p.records, prediction{Path: path, Key: keys[path], Status: legacy.Pending.String(), State: string(newqueue.JobPending), Job: is.Job, Batch: is.Batch, Runs: true})
		if p.batches[is.Batch] == nil {
			p.batches[is.Batch] = &batch{ID: is.Batch, Reports: true, Late: true}
		}
	}
	return nil
}
