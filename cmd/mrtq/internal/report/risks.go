package report

import (
	"slices"
	"strings"

	"mrtq/internal/text"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// effect is what could happen to a record that an approver has to weigh.
type effect struct {
	ID    string // its anchor in the page
	Label string
	Tone  string // of its tile, if there are any
}

var (
	undecided = effect{"undecided", "to decide", "bad"}
	twice     = effect{"twice", "might run twice", "bad"}
	never     = effect{"never", "might never run", "warn"}
	empty     = effect{"empty", "if requeued, might be stored without content", "warn"}
	unfit     = effect{"unfit", "cannot be processed", "warn"}
	removed   = effect{"removed", "batches removed within the hour", "warn"}
	outside   = effect{"outside", "left out, though not done", "warn"}
)

// effects are all effects, the gravest first. A record may be under several of them: one that
// might be stored without content might also never run. It is in one risk of each at most.
var effects = []effect{undecided, twice, never, empty, unfit, removed, outside}

// risk is one reason why something could happen, and what to do. Its records are those that is
// selects, or those that of names.
type risk struct {
	Effect  effect
	Why, Do string
	is      func(d *Data, r *migrate.RecordStatus) bool
	of      func(d *Data) []string
}

// risks are all risks, by their effects. What they say holds before and after the migration.
var risks = []risk{
	{undecided, "somebody must decide which queue has its work", "decide as the head of this page says", nil,
		func(d *Data) (paths []string) {
			if d.Status != nil {
				for _, u := range d.Status.Undecided() {
					paths = append(paths, u.Record)
				}
			}
			return paths
		}},
	{undecided, "the plan can't be applied before it is decided what becomes of them", "choose what becomes of them, repair them, or remove them",
		func(_ *Data, r *migrate.RecordStatus) bool { return r.Outcome == migrate.IsBlocked }, nil},
	{twice, "consumed: a legacy worker had begun it, and its job begins again", "stop the legacy workers, and find out what they did; under --consumed held the job waits",
		func(d *Data, r *migrate.RecordStatus) bool { return d.goesOn(r, legacy.Consumed) }, nil},
	{twice, "failed: a legacy worker had begun it, and its job begins again", "find out what the worker did; under --failed held the job waits",
		func(d *Data, r *migrate.RecordStatus) bool { return d.goesOn(r, legacy.Failed) }, nil},
	{never, "consumed: its job waits until an administrator releases it", "find out what the legacy worker did, and then release the job or delete it",
		func(d *Data, r *migrate.RecordStatus) bool { return d.waits(r, legacy.Consumed, held) }, nil},
	{never, "failed: its job waits until an administrator releases it", "find out why it failed, and then release the job or delete it",
		func(d *Data, r *migrate.RecordStatus) bool { return d.waits(r, legacy.Failed, held) }, nil},
	{never, "consumed: its job is failed, and waits until an administrator requeues it", "find out what the legacy worker did, and then requeue the job or delete it",
		func(d *Data, r *migrate.RecordStatus) bool { return d.waits(r, legacy.Consumed, failed) }, nil},
	{never, "failed: its job is failed, too, and waits until an administrator requeues it", "find out why it failed, and then requeue the job or delete it",
		func(d *Data, r *migrate.RecordStatus) bool { return d.waits(r, legacy.Failed, failed) }, nil},
	{empty, "a requeued job skips Initialize, which moves its payload to producer/, and is then reported as done", "look into its producer/ before you requeue it; a held job is safe",
		(*Data).emptied, nil},
	{unfit, "it does not meet a demand of the deployed services", "repair or remove the record in the legacy queue; else repair its job by hand", nil, (*Data).unfit},
	{removed, "its batch is Completed: the hourly cleanup removes it and its jobs for good, although the queue is held", "to look at it first, start ingest later", nil, (*Data).cleanedUp},
	{outside, "it can't be decoded: only its bytes are kept, in the quarantine file", "have its depositor or requester submit it again",
		func(_ *Data, r *migrate.RecordStatus) bool { return r.Outcome == migrate.WasQuarantined }, nil},
	{outside, "consumed: it is left to the legacy worker that has it", "let the worker finish; if none has it, requeue the record there, and migrate again",
		func(d *Data, r *migrate.RecordStatus) bool {
			return r.Status == legacy.Consumed.String() && r.Outcome == migrate.WasSkipped
		}, nil},
	{outside, "it is in the legacy queue alone: it came after the run began, or a legacy worker had it then", "plan and migrate again",
		func(d *Data, r *migrate.RecordStatus) bool {
			return d.Plan == nil && r.Outcome == migrate.NotMigrated && d.newestState() == migrate.Done
		}, nil},
	{outside, "the run is not finished", "finish it",
		func(d *Data, r *migrate.RecordStatus) bool {
			return d.Plan == nil && r.Outcome == migrate.NotMigrated && d.newestState() == migrate.Running
		}, nil},
}

// States in which a job waits for an administrator, and states that are its end.
var (
	held   = string(newqueue.JobHeld)
	failed = string(newqueue.JobFailed)
	final  = []string{string(newqueue.JobCompleted), string(newqueue.JobDeleted)}
)

// hasJob reports whether the plan creates a job for a record, or the target has one that no
// rollback has kept.
func (d *Data) hasJob(r *migrate.RecordStatus) bool {
	if d.Plan != nil {
		return r.Outcome == migrate.WillBeCreated
	}
	return r.Outcome == migrate.WasMigrated && d.stateOf(r.Run) != migrate.RolledBack
}

// goesOn reports whether the job of a record with a legacy status runs, or will, without an
// administrator's word.
func (d *Data) goesOn(r *migrate.RecordStatus, was legacy.Status) bool {
	return r.Status == was.String() && d.hasJob(r) && r.State != held && r.State != failed && !slices.Contains(final, r.State)
}

// waits reports whether the job of a record with a legacy status is in a state.
func (d *Data) waits(r *migrate.RecordStatus, was legacy.Status, in string) bool {
	return r.Status == was.String() && d.hasJob(r) && r.State == in
}

// emptied: see docs/deployed-services.md, "Failed jobs".
func (d *Data) emptied(r *migrate.RecordStatus) bool {
	return d.dialect() == newqueue.MrtZK && r.Queue == migrate.Ingest && (d.waits(r, legacy.Consumed, failed) || d.waits(r, legacy.Failed, failed))
}

// withJob are the outcomes of records that became a job, or will.
var withJob = map[migrate.Outcome]bool{migrate.WasMigrated: true, migrate.WasRemoved: true, migrate.AtLegacy: true, migrate.MustBeDecided: true, migrate.WillBeCreated: true}

// unfit are the records, and the batches, on which no deployed service could work. Only a plan
// knows them.
func (d *Data) unfit() []string {
	if d.Plan == nil {
		return nil
	}
	return slices.Concat(d.Plan.About("inventory-records"), d.Plan.About("unserviceable"))
}

// cleanedUp are the batchIDs of the batches that the cleanup removes. Only a plan knows them.
func (d *Data) cleanedUp() (batches []string) {
	if d.Plan == nil {
		return nil
	}
	for _, f := range d.Plan.Services {
		for _, i := range f.Items {
			if f.Requirement == "removed-soon" {
				batches = append(batches, strings.TrimPrefix(i.Path, newqueue.BatchUUIDsPath+"/"))
			}
		}
	}
	return batches
}

// shownRisk is a risk and its records.
type shownRisk struct {
	risk
	Paths []string
}

// shownRisks are the risks that concern any record.
func (d *Data) shownRisks() (shown []shownRisk) {
	named := map[[2]string]bool{} // by effect and path
	for _, x := range risks {
		var paths []string
		if x.of != nil {
			paths = x.of(d)
		}
		for i := range d.Records {
			if x.is != nil && x.is(d, &d.Records[i]) {
				paths = append(paths, d.Records[i].Path)
			}
		}
		paths = slices.DeleteFunc(paths, func(path string) bool {
			key := [2]string{x.Effect.ID, path}
			was := named[key]
			named[key] = true
			return was
		})
		if len(paths) > 0 {
			for i := range paths {
				paths[i] = text.Line(paths[i])
			}
			shown = append(shown, shownRisk{x, paths})
		}
	}
	return shown
}

// tile is one number at the top of the page.
type tile struct {
	N           int
	Label, Tone string
	Link        string // the section that says more
}

// tiles count the records: all; those with a job by their outcomes, as the table by queue and
// outcome names them; and those that are left out. Without the first, these add up to the first.
// Then they count the records under each effect.
func (v *content) tiles() {
	add := func(n int, label, tone, link string) { v.Tiles = append(v.Tiles, tile{n, label, tone, link}) }
	add(len(v.Data.Records), "records", "", "records")
	left := len(v.Data.Records)
	for i, label := range v.Cross.Outcomes {
		if withJob[v.Cross.outcomes[i]] {
			left -= v.Cross.Total.N[i]
			add(v.Cross.Total.N[i], label, "", "migrated")
		}
	}
	add(left, "left out", "", "left")
	for _, e := range effects {
		n := 0
		for _, r := range v.Risks {
			if r.Effect == e {
				n += len(r.Paths)
			}
		}
		switch {
		case n > 0:
			add(n, e.Label, e.Tone, "risks")
		case (e == twice || e == never) && !v.Unknown:
			add(n, e.Label, "good", "risks")
		}
	}
}

// dialect is that of the plan, or of the newest run.
func (d *Data) dialect() newqueue.Dialect {
	if d.Plan != nil {
		return d.Plan.Dialect
	}
	if newest := d.Status.Current(); newest != nil {
		return newest.Dialect
	}
	return ""
}

// stateOf is the state of a run of the target; "" if the page has none.
func (d *Data) stateOf(run string) migrate.RunState {
	if d.Status != nil && run != "" {
		for _, r := range d.Status.Runs {
			if r.ID == run {
				return r.State
			}
		}
	}
	return ""
}

func (d *Data) newestState() migrate.RunState {
	if d.Status == nil || d.Status.Current() == nil {
		return ""
	}
	return d.Status.Current().State
}
