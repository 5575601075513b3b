package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"mrtq/legacy"
)

// decideRecords gives every record its entry, and collects the jobs to make
// and the batches they belong to.
func (p *Plan) decideRecords(ctx context.Context) error {
	for _, path := range p.ex.twice {
		p.problem(Problem{Kind: Twice, Path: path, Message: "two jobs in the target claim this record", Next: "find out which is right, and remove the other"})
	}
	pin := newSourcePin(p.queue)
	tell, read, total := phases(ctx), 0, p.queue.Len()
	tell(ReadingSource, 0, total)
	for f, err := range p.queue.fetch(ctx, p.readingOrder()) {
		if err != nil {
			return err
		}
		read++
		tell(ReadingSource, read, total)
		if !f.there() {
			continue
		}
		pin.add(f.nodes)
		p.seen.record(p, f)
		e := Entry{Path: f.Path, Queue: f.Queue, SHA256: f.digest()}
		if f.Err == nil {
			e.Status = f.Legacy.Header.Status.String()
		}
		p.decideRecord(f.Record, &e)
		p.Records = append(p.Records, e)
	}
	pin.sort(p.sortRecords())
	p.Source = pin.pin(p.opt.Source)
	return nil
}

// sortRecords puts the entries into path order, and the jobs into that in which
// they are made. order is where each entry was before.
func (p *Plan) sortRecords() (order []int32) {
	order = make([]int32, len(p.Records))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return strings.Compare(p.Records[a].Path, p.Records[b].Path) })
	sorted, to := make([]Entry, len(order)), make([]int32, len(order))
	for i, from := range order {
		sorted[i], to[from] = p.Records[from], int32(i)
	}
	p.Records = sorted
	for _, pl := range p.jobs {
		if pl.batch == nil {
			pl.entry = to[pl.entry]
		}
	}
	for _, b := range p.batches {
		for _, j := range b.jobs {
			j.entry = to[j.entry]
		}
	}
	slices.SortStableFunc(p.jobs, func(a, b planned) int { return compareRecords(*a.rec, *b.rec) })
	return order
}

func (p *Plan) decideRecord(r Record, e *Entry) {
	old, migrated := p.ex.job(r.Path)
	if h, there := p.ex.custody.lookup(r.Path); there && !migrated && !p.again(r, h) {
		p.noteGone(r, h, e)
		return
	}
	fate, land, reason := decide(r, old.policies(r, p.Policies))
	switch {
	case fate == FateBlock:
		e.Action, e.Reason = ActBlock, reason
		p.problem(recordProblem(r, reason))
		return
	case fate == FateQuarantine && migrated:
		e.Action, e.Reason = ActBlock, reason
		p.problem(Problem{Kind: Touched, Path: r.Path, Message: fmt.Sprintf("it became %s and can't be decoded any more: %s", old.root, reason),
			Next: "find out what damaged it, and put the record back"})
		return
	case fate == FateQuarantine:
		e.Action, e.Reason = ActQuarantine, reason
		return
	case fate == FateSkip && !migrated:
		e.Action, e.Reason = ActSkip, reason
		return
	case fate == FateSkip:
		// Migrated by an earlier run, whose policy was another; it stays.
		land = landings[r.Queue][r.Legacy.Header.Status]
	}
	if !migrated && p.unknown(r) {
		p.decideUnknown(r, e)
		return
	}
	j := &job{rec: &r, land: land, run: p.Run, size: len(r.Data), entry: int32(len(p.Records))}
	e.State = string(land.job) + string(land.access)
	if migrated {
		j.run, j.id, j.bid = old.prov.Run, old.id, old.bid
	}
	e.ID = j.id
	switch {
	case migrated && old.prov.SHA256 == e.SHA256:
		e.Action = ActUnchanged
	case migrated:
		if why := p.ex.touched(old); why != "" {
			e.Action, e.Reason = ActBlock, "it changed since it was migrated, and so did its job: "+why
			p.problem(Problem{Kind: Touched, Path: r.Path, Message: fmt.Sprintf("%s changed since it became %s, and so did the job: %s", r.Path, old.root, why),
				Next: "decide which is right: the legacy worker's change, or the new queue's"})
			break
		}
		e.Action = ActRewrite
		p.jobs = append(p.jobs, planned{job: j, old: &old})
	default:
		e.Action = ActCreate
		if land.warning != "" {
			p.warn(r.Path, land.warning)
		}
		p.jobs = append(p.jobs, planned{job: j})
	}
	if !isAccess(r.Queue) {
		j.object = objectOf(r, land)
		if _, named := r.Legacy.Payload["profile"].(string); named {
			p.seen.profiles = true
		}
		j.batch = p.joinBatch(j)
		if e.Action == ActCreate || e.Action == ActRewrite {
			j.batch.dirty = true
			j.batch.planned++
		}
	}
	j.rec = abridged(r)
}

// abridged is what a plan keeps of a record between the passes over the source: not
// what it holds, which is read again when the job is made.
func abridged(r Record) *Record {
	return &Record{Path: r.Path, Queue: r.Queue, Legacy: legacy.Record{Key: r.Legacy.Key, Header: r.Legacy.Header, SHA256: r.Legacy.SHA256}}
}

// joinBatch adds a job, new or not, to its batch, which hears what its record says.
// Jobs come in the order of their ids; see [Plan.readingOrder].
func (p *Plan) joinBatch(j *job) *batch {
	key := keyOf(*j.rec, j.run, p.Dialect)
	b := p.batches[key]
	if b == nil {
		b = &batch{key: key, run: p.Run}
		p.batches[key] = b
		p.findBatch(b)
		p.checkBatchName(b, *j)
	}
	b.jobs = append(b.jobs, j)
	b.hear(j, p.Dialect)
	return b
}
