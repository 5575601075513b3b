package migrate

import (
	"context"
	"slices"

	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// wantedBatch is a batch as its records say that it should be.
type wantedBatch struct {
	batch
	unfinishedInventory bool // a job of an unfinished inventory record is in it
	// failed and successful are ids of jobs, as refs until the batch is looked at.
	failed, successful []ref
}

// addJobRefs is [batch.addJob], and keeps the ids only as refs.
func (b *wantedBatch) addJobRefs(j *job, n *names, d newqueue.Dialect) {
	b.addJob(j, d)
	move := func(ids []string, rows []ref) ([]string, []ref) {
		for _, id := range ids {
			rows = append(rows, n.ref(id))
		}
		return nil, rows
	}
	b.tally.failed, b.failed = move(b.tally.failed, b.failed)
	b.tally.successful, b.successful = move(b.tally.successful, b.successful)
}

// wants are the batch's znodes. All of its jobs must have been taken.
func (b *wantedBatch) wants(n *names, d newqueue.Dialect) []leaf {
	whole := b.batch
	whole.tally.failed = slices.Collect(n.texts(b.failed))
	whole.tally.successful = slices.Collect(n.texts(b.successful))
	return whole.nodes(d)
}

// findBatches finds the batches that these jobs should be in, unless they were found before.
// It looks under their uuids. If a uuid is not there, it takes the batch that the first job
// names.
func (p *piece) findBatches(ctx context.Context, jobs []*job) error {
	first := map[batchKey]*job{}
	var uuids []string
	for _, j := range jobs {
		if isAccess(j.rec.Queue) {
			continue
		}
		key := keyOf(*j.rec, j.run, p.dialect)
		if p.batches[key] == nil && first[key] == nil {
			first[key] = j
			uuids = append(uuids, newqueue.BatchUUIDPath(key.uuid()))
		}
	}
	named, err := p.target.data(ctx, uuids)
	if err != nil {
		return err
	}
	for key, j := range first {
		b := &wantedBatch{batch: batch{key: key, bid: j.bid, run: j.run}}
		if data, there := named[newqueue.BatchUUIDPath(key.uuid())]; there {
			b.bid = string(data)
		}
		if row := p.target.batchOf(b.bid); row != nil && row.run != (ref{}) {
			b.run = p.target.names.text(row.run)
		}
		p.batches[key] = b
		p.wanted[b.bid] = append(p.wanted[b.bid], b)
	}
	return nil
}

// data reads znodes' data, by path. It leaves out those that are not there.
func (l *listing) data(ctx context.Context, paths []string) (map[string][]byte, error) {
	data := map[string][]byte{}
	for sub, err := range l.side.Subtrees(ctx, slices.Values(distinct(paths))) {
		if err != nil {
			return nil, err
		}
		if !sub.Missing() {
			data[sub.Root] = sub.Nodes[0].Data
		}
	}
	return data, nil
}

// allBatches looks at all batches, and at those that should be there. It does not look at
// their jobs' entries.
func (v *verifier) allBatches(ctx context.Context) error {
	met, report := map[string]bool{}, phases(ctx)
	report(ComparingBatches, 0, len(v.target.batches))
	for p, err := range v.target.batchParts(ctx) {
		if err != nil {
			return err
		}
		for _, path := range p.roots {
			met[znode.Name(path)] = true
		}
		report(ComparingBatches, len(met), len(v.target.batches))
		if err := v.piece(p).batchesThere(ctx); err != nil {
			return err
		}
	}
	missing := newPart()
	for bid := range v.wanted {
		if !met[bid] {
			missing.add(newqueue.BatchPath(bid))
		}
	}
	slices.Sort(missing.roots)
	return v.piece(missing).batchesThere(ctx)
}

// batchesThere compares the batches of a part with what their jobs say of them.
func (p *piece) batchesThere(ctx context.Context) error {
	var wantedUUIDs, uuids []string
	for _, path := range p.roots {
		for _, b := range p.wanted[znode.Name(path)] {
			p.wantNodes(b.wants(p.target.names, p.dialect), "")
			wantedUUIDs = append(wantedUUIDs, newqueue.BatchUUIDPath(b.key.uuid()))
		}
		if id := batchIDIn(dataOf(p.tree.Get(path + "/submission"))); id != "" {
			uuids = append(uuids, newqueue.BatchUUIDPath(id))
		}
	}
	wantedUUIDs = distinct(wantedUUIDs)
	if err := p.addUUIDs(ctx, slices.Concat(wantedUUIDs, uuids)); err != nil {
		return err
	}
	for _, path := range wantedUUIDs {
		p.uuids.add(path)
	}
	p.compare(p.roots...)
	p.compare(wantedUUIDs...)
	p.layout(p.owns)
	p.batchServices()
	return nil
}

// batchIDIn is the batchID in a submission, "" for none.
func batchIDIn(submission []byte) string {
	o, err := newqueue.ParseObject(submission)
	if err != nil {
		return ""
	}
	id, _ := o["batchID"].(string)
	return id
}

// addUUIDs adds entries of /batch-uuids to the part, as its own. It adds stubs of the batches
// that they name.
func (p *piece) addUUIDs(ctx context.Context, paths []string) error {
	paths = slices.DeleteFunc(distinct(paths), func(path string) bool { return znode.ValidatePath(path) != nil })
	for _, path := range paths {
		p.own[path] = true
	}
	if err := p.target.read(ctx, p.part, paths); err != nil {
		return err
	}
	for _, path := range paths {
		bid := string(dataOf(p.tree.Get(path)))
		if b := p.target.batchOf(bid); b != nil {
			if err := p.stub(bid, false); err != nil {
				return err
			}
		}
	}
	return nil
}
