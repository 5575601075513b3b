package migrate

import (
	"context"
	"fmt"
	"slices"

	"mrtq/newqueue"
)

// decideRecords gives every record its row. It collects the jobs to create and their
// batches.
func (p *Plan) decideRecords(ctx context.Context) error {
	for _, path := range p.ex.twice {
		p.problem(Problem{Kind: Twice, Path: path, Message: "two jobs in the target say that they were made from this record", Next: "find out which one is right, and remove the other"})
	}
	p.reasons.of("")
	p.states.of("")
	p.rows = make([]recordRow, p.queue.Len())
	pin := newSourcePin(p.queue)
	order := p.readingOrder()
	p.creates = make([]plannedJob, 0, max(len(order)-len(p.ex.custody.entries.rows), 0)) // usually no more are created
	paths := func(yield func(string) bool) {
		for _, r := range order {
			if !yield(p.listed.path(r.record)) {
				return
			}
		}
	}
	next := 0
	report := phases(ctx)
	report(ReadingSource, 0, len(order))
	for f, err := range p.queue.fetch(ctx, paths) {
		if err != nil {
			return err
		}
		at := order[next]
		next++
		report(ReadingSource, next, len(order))
		if !f.there() {
			continue
		}
		p.recordCount++
		pin.add(at.record, f.nodes)
		row := &p.rows[at.record]
		row.sha = f.digest()
		if f.Err == nil {
			row.status = uint8(f.Legacy.Header.Status) + 1
		}
		if err := p.decideRecord(ctx, f, at, row); err != nil {
			return err
		}
	}
	slices.SortStableFunc(p.rewrites, func(a, b plannedJob) int { return p.compareKeys(a.record, b.record) })
	p.Records = Records{plan: p}
	p.Source = pin.pin(p.opt.Source, p.listed)
	return nil
}

// act notes what the plan does with a record.
func (row *recordRow) act(a Action) { row.action = uint8(slices.Index(Actions, a)) + 1 }

func (p *Plan) decideRecord(ctx context.Context, f fetched, at toRead, row *recordRow) error {
	r := f.Record
	migrated := at.old > 0
	p.seen.record(p, f, migrated)
	var old migratedJob
	if migrated {
		old = p.ex.jobs.job(p.ex.jobs.rows[at.old-1])
	}
	if h, there := p.ex.custody.lookup(r.Path); there && !migrated && !p.wantsNewJob(r, h) {
		p.noteGone(r, h, row)
		return nil
	}
	decided, initial, reason := decide(r, old.policies(r, p.Policies))
	switch {
	case decided == Block:
		row.act(ActBlock)
		row.reason = p.reasons.of(reason)
		p.problem(recordProblem(r, reason))
		return nil
	case decided == Quarantine && migrated:
		row.act(ActBlock)
		row.reason = p.reasons.of(reason)
		p.problem(Problem{Kind: Touched, Path: r.Path, Message: fmt.Sprintf("it became %s and can't be decoded any more: %s", old.root, reason),
			Next: "find out what damaged it, and put the record back"})
		return nil
	case decided == Quarantine:
		row.act(ActQuarantine)
		row.reason = p.reasons.of(reason)
		return nil
	case decided == Skip && !migrated:
		row.act(ActSkip)
		row.reason = p.reasons.of(reason)
		return nil
	case decided == Skip:
		// An earlier run migrated it under another policy. Its job stays.
		initial = initialStates[r.Queue][r.Legacy.Header.Status]
	}
	if !migrated && p.mayBeLost(r) {
		p.decideMayBeLost(r, row)
		return nil
	}
	row.state = uint8(p.states.of(string(initial.job) + string(initial.access)))
	j := &job{rec: &r, initial: initial, run: p.Run}
	if migrated {
		j.run, j.id, j.bid = old.prov.Run, old.id, old.bid
		row.job = existingMember(int(at.old - 1))
	}
	switch {
	case migrated && old.prov.SHA256 == hexOf(row.sha):
		row.act(ActUnchanged)
	case migrated && p.ex.jobs.rows[at.old-1].touched:
		why, err := p.target.readWhyTouched(ctx, old)
		if err != nil {
			return err
		}
		row.act(ActBlock)
		row.reason = p.reasons.of("it changed since it was migrated, and so did its job: " + why)
		p.problem(Problem{Kind: Touched, Path: r.Path, Message: fmt.Sprintf("%s changed since it became %s, and so did the job: %s", r.Path, old.root, why),
			Next: "decide which is right: the legacy worker's change, or the new queue's"})
	case migrated:
		row.act(ActRewrite)
	default:
		row.act(ActCreate)
		row.job = newMember(len(p.creates))
		if initial.warning != "" {
			p.warn(r.Path, initial.warning)
		}
	}
	p.add(j, at, row)
	return nil
}

// add adds a job that exists or that the plan creates.
func (p *Plan) add(j *job, at toRead, row *recordRow) {
	makes := Actions[row.action-1] == ActCreate || Actions[row.action-1] == ActRewrite
	pl := plannedJob{record: at.record, old: at.old, size: int32(len(j.rec.Data)), initial: p.initialIndex(j.initial)}
	if !isAccess(j.rec.Queue) {
		if object := objectOf(*j.rec, j.initial); object != "" {
			pl.object = p.objects.of(object) | 1
		}
		if _, named := j.rec.Legacy.Payload["profile"].(string); named {
			p.seen.profiles = true
		}
		j.batch = p.addToBatch(j, row.job)
		pl.batch = j.batch.index
		row.batch = pl.batch
		if makes {
			j.batch.dirty = true
			j.batch.planned++
		}
	}
	switch {
	case !makes:
		return
	case pl.rewrite():
		p.rewrites = append(p.rewrites, pl)
	default:
		p.creates = append(p.creates, pl)
	}
	p.services.look(j, at.record)
}

// addToBatch adds a job, new or not, and what its record says, to its batch. Jobs come in
// the order of their ids; see [Plan.readingOrder].
func (p *Plan) addToBatch(j *job, m member) *batch {
	key := keyOf(*j.rec, j.run, p.Dialect)
	b := p.batches[key]
	if b == nil {
		p.batchList = append(p.batchList, &batch{key: key, run: p.Run, index: int32(len(p.batchList) + 1)})
		b = p.batchList[len(p.batchList)-1]
		p.batches[key] = b
		p.findBatch(b)
		p.checkBatchName(b, *j)
	}
	b.addPlanned(j, m, p.Dialect)
	return b
}

// addPlanned adds a plan's job. Its id is not known yet.
func (b *batch) addPlanned(j *job, m member, d newqueue.Dialect) {
	b.count++
	switch j.initial.job {
	case newqueue.JobFailed:
		b.failed = append(b.failed, m)
	case newqueue.JobCompleted:
		b.completed = append(b.completed, m)
	}
	b.unfinishedInventory = b.unfinishedInventory || b.key.kind == ofInventory && isUnfinished(j.initial)
	b.addProperties(j, d)
	b.tally.count(j)
}
