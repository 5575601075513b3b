package planpage

import (
	"slices"
	"strings"

	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// effect is what could happen to a record that an approver has to weigh.
type effect struct {
	Label string
	Tone  string // of its tile, if there are any
}

var (
	undecided = effect{"to decide", "bad"}
	twice     = effect{"might run twice", "bad"}
	never     = effect{"might never run", "warn"}
	empty     = effect{"if requeued, might be stored without content", "warn"}
	unfit     = effect{"cannot be processed", "warn"}
	removed   = effect{"batches removed within the hour", "warn"}
	outside   = effect{"left out, though not done", "warn"}
)

// effects are all effects, the gravest first. A record may be under several of them: one that
// might be stored without content might also never run. It is in one risk of each at most.
var effects = []effect{undecided, twice, never, empty, unfit, removed, outside}

// risk is one reason why something could happen, and what to do. Its records are those that is
// selects, or those that of names.
type risk struct {
	Effect  effect
	Why, Do string
	is      func(p *migrate.Plan, r *migrate.PlanRecord) bool
	of      func(p *migrate.Plan) []string
}

// risks are all risks, by their effects.
var risks = []risk{
	{undecided, "the plan can't be applied before it is decided what becomes of them", "choose what becomes of them, repair them, or remove them",
		func(_ *migrate.Plan, r *migrate.PlanRecord) bool { return r.Action == migrate.ActionBlock }, nil},
	{twice, "consumed: a legacy worker had begun it, and its job begins again", "stop the legacy workers, and find out what they did; under --consumed held the job waits", goesOn(legacy.Consumed), nil},
	{twice, "failed: a legacy worker had begun it, and its job begins again", "find out what the worker did; under --failed held the job waits", goesOn(legacy.Failed), nil},
	{never, "consumed: its job waits until an administrator releases it", "find out what the legacy worker did, and then release the job or delete it", waits(legacy.Consumed, newqueue.JobHeld), nil},
	{never, "failed: its job waits until an administrator releases it", "find out why it failed, and then release the job or delete it", waits(legacy.Failed, newqueue.JobHeld), nil},
	{never, "consumed: its job is failed, and waits until an administrator requeues it", "find out what the legacy worker did, and then requeue the job or delete it", waits(legacy.Consumed, newqueue.JobFailed), nil},
	{never, "failed: its job is failed, too, and waits until an administrator requeues it", "find out why it failed, and then requeue the job or delete it", waits(legacy.Failed, newqueue.JobFailed), nil},
	{empty, "a requeued job skips Initialize, which moves its payload to producer/, and is then reported as done", "look into its producer/ before you requeue it; a held job is safe", emptied, nil},
	{unfit, "it does not meet a demand of the deployed services", "repair or remove the record in the legacy queue; else repair its job by hand", nil,
		func(p *migrate.Plan) []string {
			return slices.Concat(p.About("inventory-records"), p.About("unserviceable"))
		}},
	{removed, "its batch is Completed: the hourly cleanup removes it and its jobs for good, although the queue is held", "to look at it first, start ingest later", nil, cleanedUp},
	{outside, "it can't be decoded: only its bytes are kept, in the quarantine file", "have its depositor or requester submit it again",
		func(_ *migrate.Plan, r *migrate.PlanRecord) bool { return r.Action == migrate.ActionQuarantine }, nil},
	{outside, "consumed: it is left to the legacy worker that has it", "let the worker finish; if none has it, requeue the record there, and migrate again",
		func(_ *migrate.Plan, r *migrate.PlanRecord) bool {
			return r.Status == legacy.Consumed.String() && r.Action == migrate.ActionSkip
		}, nil},
}

// goesOn selects the records with a legacy status whose job will run without an administrator's word.
func goesOn(was legacy.Status) func(*migrate.Plan, *migrate.PlanRecord) bool {
	stays := []string{string(newqueue.JobHeld), string(newqueue.JobFailed), string(newqueue.JobCompleted), string(newqueue.JobDeleted)}
	return func(_ *migrate.Plan, r *migrate.PlanRecord) bool {
		return r.Status == was.String() && r.Action == migrate.ActionCreate && !slices.Contains(stays, r.State)
	}
}

// waits selects the records with a legacy status whose job begins in a state.
func waits(was legacy.Status, in newqueue.JobState) func(*migrate.Plan, *migrate.PlanRecord) bool {
	return func(_ *migrate.Plan, r *migrate.PlanRecord) bool {
		return r.Status == was.String() && r.Action == migrate.ActionCreate && r.State == string(in)
	}
}

// emptied: see docs/deployed-services.md, "Failed jobs".
func emptied(p *migrate.Plan, r *migrate.PlanRecord) bool {
	return p.Dialect == newqueue.MrtZK && r.Queue == migrate.Ingest && (waits(legacy.Consumed, newqueue.JobFailed)(p, r) || waits(legacy.Failed, newqueue.JobFailed)(p, r))
}

// cleanedUp are the batchIDs of the batches that the cleanup removes.
func cleanedUp(p *migrate.Plan) (batches []string) {
	for _, f := range p.Services {
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
func shownRisks(p *migrate.Plan) (shown []shownRisk) {
	named := map[effect]map[string]bool{}
	for _, x := range risks {
		var paths []string
		if x.of != nil {
			paths = x.of(p)
		}
		for i := range p.Records {
			if x.is != nil && x.is(p, &p.Records[i]) {
				paths = append(paths, p.Records[i].Path)
			}
		}
		if named[x.Effect] == nil {
			named[x.Effect] = map[string]bool{}
		}
		paths = slices.DeleteFunc(paths, func(path string) bool {
			was := named[x.Effect][path]
			named[x.Effect][path] = true
			return was
		})
		if len(paths) > 0 {
			shown = append(shown, shownRisk{x, paths})
		}
	}
	return shown
}
