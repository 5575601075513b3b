package migrate

import (
	"cmp"
	"context"
	"slices"

	"mrtq/newqueue"
)

// serviceLook looks at each job and request that a plan creates or rewrites, while its
// record is in memory. The ids are not known yet. It counts the findings, and remembers the
// records for which [Plan.checkServices] looks again.
type serviceLook struct {
	checks  serviceChecks
	flagged []int32 // these records, by number
}

func newServiceLook(d newqueue.Dialect) serviceLook {
	// Whether any job has a profile is known only when all were seen.
	return serviceLook{checks: serviceChecks{d: d, profiles: true, statuses: map[initialState]newqueue.Object{}, found: &findings{}}}
}

// look looks at one job or request.
func (s *serviceLook) look(j *job, record int32) {
	if s.checks.d != newqueue.MrtZK {
		return
	}
	unnumbered := *j
	if j.id == "" {
		unnumbered.id = newqueue.SequenceID(newqueue.JobPrefix, 0)
		if j.batch == nil {
			unnumbered.id = newqueue.SequenceID(newqueue.AccessPrefix, 0)
		}
	}
	found := s.checks.found
	before := found.kept
	s.checks.look(&unnumbered)
	found.inventoryRecords = nil // each record is looked at only once
	if found.kept > before {
		s.flagged = append(s.flagged, record)
	}
}

// checkServices finds the jobs, requests and batches of the plan that no deployed service
// could work on. It looks at the JSON objects that the migration would write. It does not
// look at where an item's entries are, because a migration always gets that right
// (TestPlanChecksWhatItWrites).
func (p *Plan) checkServices(ctx context.Context) error {
	if p.Dialect != newqueue.MrtZK {
		return nil
	}
	found := findings{counted: p.services.checks.found}
	checks := p.services.checks
	checks.profiles, checks.found = p.seen.profiles, &found
	for _, b := range p.outdated {
		checks.batch(b)
	}
	batches := slices.DeleteFunc(p.sortedBatches(), func(b *batch) bool { return b.planned == 0 })
	upTo := func(b *batch) { // each batch comes before its jobs
		for len(batches) > 0 && b != nil {
			next := batches[0]
			if cmp.Compare(next.bid, b.bid) > 0 {
				return
			}
			checks.batch(next)
			batches = batches[1:]
		}
	}
	flagged, report, looked := p.flaggedJobs(), phases(ctx), 0
	for j, err := range p.loaded(ctx, slices.Values(flagged)) {
		if err != nil {
			return err
		}
		looked++
		report(CheckingSource, looked, len(flagged))
		upTo(p.batchOf(j.plannedJob))
		checks.look(p.jobOf(j.plannedJob, j.rec))
	}
	for len(batches) > 0 {
		upTo(batches[0])
	}
	p.Services = found.all()
	for _, f := range p.Services {
		p.blockService(f)
	}
	return nil
}

// flaggedJobs are the jobs with findings: access requests first, then the jobs batch by batch,
// in the order of their ids.
func (p *Plan) flaggedJobs() []*plannedJob {
	rewrites := map[int32]*plannedJob{}
	for i := range p.rewrites {
		rewrites[p.rewrites[i].record] = &p.rewrites[i]
	}
	var jobs []*plannedJob
	for _, record := range p.services.flagged {
		if i, made := p.rows[record].job.created(); made {
			jobs = append(jobs, &p.creates[i])
		} else {
			jobs = append(jobs, rewrites[record])
		}
	}
	bid := func(pl *plannedJob) string {
		if b := p.batchOf(pl); b != nil {
			return b.bid
		}
		return ""
	}
	slices.SortStableFunc(jobs, func(a, b *plannedJob) int {
		if a.batch == 0 && b.batch == 0 {
			return 0
		}
		return cmp.Or(cmp.Compare(bid(a), bid(b)), cmp.Compare(p.idOf(a), p.idOf(b)))
	})
	return jobs
}
