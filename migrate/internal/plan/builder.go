package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mrtq/internal/text"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/rules"
	"mrtq/migrate/internal/source"
	"mrtq/migrate/internal/standing"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// Input is what a plan is made from, beside the records.
type Input struct {
	Options migration.PlanOptions
	Source  *source.Source // as it was listed
	Target  *target.Target // as it was read
	Names   *target.Names  // of what the target holds
	Renames standing.Renames
	// Dialect is that of the target's queue, and ShownBy the znode that shows it; both are
	// "" if there is no queue.
	Dialect newqueue.Dialect
	ShownBy string
	// Places has where the records of each batch go, if they are added to Run, which was released.
	Places map[rules.BatchKey]Place
	Run    *migration.Run
}

// Builder makes a plan.
type Builder struct {
	in      Input
	plan    *Made
	batches map[rules.BatchKey]*Batch
	// unfinished is the first record with a jobID whose job is unfinished, in dialect mrt-zk; doubled are
	// those that have another with the same.
	unfinished map[jobKey]string
	doubled    map[jobKey]bool
	named      map[string]rules.BatchKey // the batches, by their paths below /batch-uuids
	byJobID    map[string]string         // consumed records, by their jobID
	found      map[string]*migration.Finding
	kinds      []string         // the keys of found, in the order in which they were met
	queues     map[string]int64 // the czxids of the source's queue nodes
	waits      map[place]bool   // from where records were migrated and not handed over
}

type place struct {
	run   int32 // index
	queue string
}

// New begins a plan.
func New(in Input) *Builder {
	opt := in.Options
	b := &Builder{in: in, batches: map[rules.BatchKey]*Batch{}, named: map[string]rules.BatchKey{}, unfinished: map[jobKey]string{}, doubled: map[jobKey]bool{}, byJobID: map[string]string{}, found: map[string]*migration.Finding{}}
	b.plan = &Made{Target: in.Target, byKey: b.batches, Plan: &migration.Plan{
		Source: opt.Source, Target: opt.Target, Choices: opt.Choices,
		Dialect:  opt.Dialect,
		Settings: migration.Settings{Queues: in.Source.Queues, Time: in.Source.Options.Time.String(), PlanOptions: opt},
		Records:  make([]migration.PlanRecord, 0, in.Source.Len()),
	}}
	b.plan.Settings.Note = text.Line(strings.TrimSpace(opt.Note)) // it is printed
	b.plan.Settings.MaxBuffer = cmp.Or(opt.MaxBuffer, migration.DefaultMaxBuffer)
	if in.Run != nil {
		p := b.plan
		p.onto, p.Run, p.Dialect, p.Choices, p.Settings.ACL, p.Previous = in.Run, in.Run.ID, in.Run.Dialect, in.Run.Choices, in.Run.ACL, in.Run
		return b
	}
	b.queues, b.waits = in.Source.Czxids(), map[place]bool{}
	for e := range in.Target.Ledger.All() {
		at := place{e.Run, znode.Parent(e.Record)}
		b.waits[at] = b.waits[at] || !e.HandedOver
	}
	b.chooseDialect()
	b.chooseRun()
	b.checkOrigin()
	b.checkQueues()
	return b
}

// checkQueues refuses a source that lacks a queue node, unless that is one of the usual ones.
// After a migration, a source may have lost it.
func (b *Builder) checkQueues() {
	usual := migration.DefaultQueues().Roots()
	for _, path := range b.in.Source.Missing {
		if b.plan.Previous == nil && !slices.Contains(usual, path) {
			b.problem(migration.Problem{Kind: migration.ProblemNoSuchQueue, Path: path, Message: "the source has no such znode; it has " + strings.Join(b.in.Source.There, ", "),
				Next: "check the path, or leave this node out of the flag that names it"})
		}
	}
}

// checkOrigin refuses another legacy queue than that of the runs before: a record is known by its path.
func (b *Builder) checkOrigin() {
	for i, run := range b.in.Target.Ledger.Runs {
		path, says := ledger.RunPath(run.ID), ""
		if run.State == migration.RunRolledBack {
			continue
		}
		if chroot := cmp.Or(b.in.Source.Reader().Address().Chroot, "/"); run.Origin.OneEnsemble && chroot != run.Origin.Chroot {
			says = fmt.Sprintf("%s took its records from below %s, this source is %s", run.ID, run.Origin.Chroot, chroot)
		}
		for _, queue := range slices.Sorted(maps.Keys(run.Origin.Czxids)) {
			if standing.QueueOf(&run, queue, b.queues) == standing.MadeAgain && b.waits[place{int32(i), queue}] {
				says = fmt.Sprintf("%s is not the znode from which %s took its records", queue, run.ID)
			}
		}
		if says != "" {
			next := "give the legacy queue that was migrated, or " + passFirst(&run)
			if run.State != migration.RunRunning {
				next += "; another queue needs a new queue of its own"
			}
			b.problem(migration.Problem{Kind: migration.ProblemOtherOrigin, Path: path, Message: says, Next: next})
			return
		}
	}
}

// passFirst is what to do with a run that has records before a plan. Nothing is released while it is unfinished.
func passFirst(run *migration.Run) string {
	if run.State == migration.RunRunning {
		return "roll back what was migrated"
	}
	return "release or roll back what was migrated first"
}

func (b *Builder) problem(p migration.Problem) { b.plan.Problems = append(b.plan.Problems, p) }

// chooseDialect takes the dialect of the options, or that of the queue that the target
// holds. No service reads both, so nobody assumes one.
func (b *Builder) chooseDialect() {
	p, found := b.plan, b.in.Dialect
	switch {
	case p.Dialect == "" && found == "":
		p.Dialect = newqueue.Design
		b.problem(migration.Problem{Kind: migration.ProblemNoDialect, Path: "/", Message: "the target holds no queue that shows which dialect its services read, and no dialect is chosen",
			Next: "choose the dialect that your services read"})
	case p.Dialect == "":
		p.Dialect = found
	case found != "" && found != p.Dialect:
		b.problem(migration.Problem{Kind: migration.ProblemOtherDialect, Path: b.in.ShownBy, Message: fmt.Sprintf("the target holds a queue in dialect %s, this plan is in %s", found, p.Dialect),
			Next: fmt.Sprintf("plan in dialect %s", found), Fits: string(found)})
	}
	if len(b.in.Target.Ledger.Runs) == 0 && !b.in.Options.NewQueue {
		b.problem(migration.Problem{Kind: migration.ProblemNoQueue, Path: "/", Message: "nothing was ever migrated to this target", Next: "check the address of the target; if it is right, say that a new queue is wanted"})
	}
}

func (b *Builder) chooseRun() {
	p, last := b.plan, b.in.Target.Ledger.Newest()
	p.Run = migration.RunID(0)
	given := p.Settings.ACL != nil
	if znode.IsOpenACL(p.Settings.ACL) {
		p.Settings.ACL = nil // as a run's record has it
	}
	if last == nil {
		p.Choices = p.Choices.Or(migration.DefaultChoices())
		return
	}
	p.Previous, p.Choices = last, p.Choices.Or(last.Choices)
	if !given {
		p.Settings.ACL = last.ACL
	}
	p.Run = migration.RunID(last.Number() + 1)
	path := ledger.RunPath(last.ID)
	for _, run := range b.in.Target.Ledger.Runs {
		if run.State == migration.RunRollingBack {
			b.problem(migration.Problem{Kind: migration.ProblemRollbackUnfinished, Path: ledger.RunPath(run.ID), Message: run.ID + " is being rolled back",
				Next: fmt.Sprintf("finish rolling back %s first", run.ID), Fits: run.ID})
		}
	}
	switch last.State {
	case migration.RunRunning:
		p.Run, p.Resumes, p.Unfinished = last.ID, true, *last
		b.compareSettings(last, path)
	case migration.RunDone:
		b.compareTimes(last, path)
	}
}

// compareSettings refuses to finish a run with other settings than those that it was begun
// with. What blocked records then is not among them: the run has none of these, so it may be chosen now.
func (b *Builder) compareSettings(last *migration.Run, path string) {
	p := b.plan
	refuse := func(fits, message string, args ...any) {
		b.problem(migration.Problem{Kind: migration.ProblemOtherChoices, Path: path, Message: fmt.Sprintf(message, args...),
			Next: fmt.Sprintf("finish it with those, or roll back %s first", last.ID), Fits: fits})
	}
	if changes := last.Choices.Unblocked(p.Choices).Changes(p.Choices); changes != "" {
		refuse(last.ID, "%s was begun with other choices: %s", last.ID, changes)
	}
	if changes := last.Origin.Queues.Changes(b.in.Source.Queues); changes != "" { // the ledger would have records that the run's origin does not know
		refuse(last.ID, "%s was begun with other queue nodes: %s", last.ID, changes)
	}
	b.compareTimes(last, path)
	if !slices.Equal(last.ACL, p.Settings.ACL) {
		refuse(last.ID, "%s was begun with another ACL for its znodes", last.ID)
	}
}

// compareTimes refuses another unit of times than that of the run before, because a
// verification reads all records in one unit.
func (b *Builder) compareTimes(last *migration.Run, path string) {
	if now := b.plan.Settings.Time; last.Time != now {
		b.problem(migration.Problem{Kind: migration.ProblemOtherTimes, Path: path, Message: fmt.Sprintf("%s read the records' times as %s, and this plan reads them as %s", last.ID, last.Time, now),
			Next: "read them as " + last.Time, Fits: last.Time})
	}
}

// Add adds the next record, in the order in which records are migrated.
func (b *Builder) Add(f source.Fetched) {
	if !f.There {
		return
	}
	r := f.Record
	line := migration.PlanRecord{Path: r.Path, Queue: r.Queue, Hash: ledger.HashOf(r.SHA256())}
	if r.Err == nil {
		line.Status = r.Legacy.Header.Status.String()
	}
	var entry *ledger.Migrated
	if b.in.Run == nil { // otherwise it is known that there is none
		entry = cmp.Or(standing.EntryOf(b.in.Target.Ledger, f), b.in.Target.Ledger.Find(r.Path))
	}
	var facts standing.Facts
	if entry != nil {
		run := &b.in.Target.Ledger.Runs[entry.Run]
		if facts = standing.FactsOf(entry, run, f, b.queues); facts.Another {
			if !entry.HandedOver && standing.QueueOf(run, znode.Parent(r.Path), b.queues) == standing.Same {
				b.problem(migration.Problem{Kind: migration.ProblemOtherOrigin, Path: r.Path, Message: fmt.Sprintf("%s migrated another record of this name, which is not there any more", run.ID),
					Next: passFirst(run)})
			}
			entry = nil
		}
	}
	if from := b.in.Renames.From(r.Path); from != "" {
		line.Action, line.Job = migration.ActionChanged, b.in.Target.Ledger.Find(from).Job
		line.Reason = fmt.Sprintf("it is %s under another name: a release withdraws its job, and after that it can be migrated again", from)
		if b.in.Renames.IsTaken(from) {
			line.Reason = fmt.Sprintf("it is %s under another name: %s", from, migration.QuestionTaken.Says())
		}
		b.plan.Records = append(b.plan.Records, line)
		return
	}
	b.lookAt(f, entry != nil)
	switch {
	case entry != nil:
		b.compare(r, &line, entry, facts)
	case b.plan.Resumes && !b.plan.Unfinished.HadRecord(r.Path):
		line.Action, line.Reason = migration.ActionSkip, cameLater
		b.warn("late", r.Path, fmt.Sprintf("it came since %s began: after the release, follow moves it", b.plan.Run))
	default:
		b.decide(r, &line)
		b.checkHandOver(&line, f)
	}
	b.plan.Records = append(b.plan.Records, line)
}

// cameLater is why an unfinished run leaves out a record.
const cameLater = "it came since the run began"

func (b *Builder) decide(r migration.Record, line *migration.PlanRecord) {
	d := rules.Decide(r, b.plan.Choices)
	line.Reason = d.Reason
	switch d.Do {
	case migration.Block:
		line.Action = migration.ActionBlock
		b.problem(recordProblem(r, d.Reason))
	case migration.Quarantine:
		line.Action = migration.ActionQuarantine
		b.plan.Quarantined = append(b.plan.Quarantined, r)
	case migration.Skip:
		line.Action = migration.ActionSkip
	default:
		b.create(r, d.State, line)
	}
}

func (b *Builder) create(r migration.Record, s rules.State, line *migration.PlanRecord) {
	line.Action, line.State = migration.ActionCreate, s.Name()
	if s.Warning != "" {
		b.find(s.Warning, migration.Finding{Kind: "other-state", Effect: migration.EffectWarning}, migration.FindingItem{Path: r.Path, What: s.Warning})
	}
	var batch *Batch // nil for an access request
	if !r.Queue.IsAccess() {
		batch = b.addToBatch(r, s, true)
		line.Batch = batch.PlanBatch
	}
	b.checkServices(r, s, batch)
	b.checkSize(r, s, batch)
}

func (b *Builder) checkHandOver(line *migration.PlanRecord, f source.Fetched) {
	path := line.Path
	if line.Action == migration.ActionSkip || line.Action == migration.ActionQuarantine || line.Action == migration.ActionBlock {
		return
	}
	if len(f.Below) > 0 {
		b.problem(migration.Problem{Kind: migration.ProblemHasChildren, Path: path, Message: fmt.Sprintf("there is a znode below it, %s, so it can't leave the legacy queue", f.Below[0]),
			Next: "remove what is below it: a record has no children"})
	}
	if slices.ContainsFunc(f.ACL, func(a znode.ACL) bool { return a.Scheme == "digest" && strings.HasSuffix(a.ID, ":x") }) {
		b.problem(migration.Problem{Kind: migration.ProblemHiddenACL, Path: path, Message: "its ACL can't be read whole, so a rollback could not give it back as it was",
			Next: "give credentials with the permission ADMIN on it"})
	}
}

// compare plans a record that was migrated before. It is never migrated again, and its job
// is never changed.
func (b *Builder) compare(r migration.Record, line *migration.PlanRecord, entry *ledger.Migrated, facts standing.Facts) {
	line.Job = entry.Job
	switch {
	case facts.Record == standing.Unknown:
		line.Action, line.Reason = migration.ActionBlock, r.Err.Error()
		b.problem(recordProblem(r, line.Reason))
	case facts.Word() == standing.ThereAgain:
		line.Action, line.Reason = migration.ActionChanged, migration.QuestionAgain.Says()
	case facts.Record == standing.Changed:
		line.Action, line.Reason = migration.ActionChanged, "it has changed since it was migrated: a legacy worker or an administrator changed it"
	case !b.in.Names.Has(entry.Job):
		line.Action, line.Reason = migration.ActionRemoved, "its job was finished and cleaned up, or deleted"
	default:
		line.Action = migration.ActionUnchanged
	}
	// What the run that is being finished has already made of it counts for its batch.
	if d := rules.Decide(r, b.plan.Choices); d.Do == migration.Migrate && b.in.Target.Ledger.Runs[entry.Run].ID == b.plan.Run &&
		entry.Batch != "" && b.in.Names.Has(newqueue.BatchPath(entry.Batch)) {
		batch := b.addToBatch(r, d.State, false)
		if d.State.Unfinished() {
			b.unfinished[keyOf(r, batch)] = r.Path
		}
	}
}

// Finish ends the plan. there are the batches that [Builder.Existing] names, as they are.
func (b *Builder) Finish(there map[string]target.Batch) *Made {
	p := b.plan
	for _, batch := range p.Batches {
		b.finishBatch(batch, there[batch.ID])
	}
	p.Batches = slices.DeleteFunc(p.Batches, func(batch *Batch) bool {
		removed := !batch.New && !there[batch.ID].There // other clients have removed it, and there is nothing to close
		return batch.Adds == 0 && (!batch.Ours || removed)
	})
	for _, batch := range p.Batches {
		p.Plan.Batches = append(p.Plan.Batches, batch.PlanBatch)
	}
	b.planLayout()
	if !p.Empty() && !p.Resumes && b.in.Run == nil { // a run begins
		b.planOneRun()
		b.planHolds()
	}
	b.planRestored()
	b.finishServices()
	b.addNotes()
	slices.SortStableFunc(p.Problems, func(x, y migration.Problem) int { return strings.Compare(x.Path, y.Path) })
	return p
}

func (b *Builder) planLayout() {
	p := b.plan
	if p.Empty() {
		return
	}
	var need []string
	add := func(paths ...string) {
		for _, path := range paths {
			if !slices.Contains(need, path) {
				need = append(need, path)
			}
		}
	}
	add(p.Dialect.StartNodes()...)
	for i := range p.Records {
		r := &p.Records[i]
		switch state := newqueue.JobState(r.State); {
		case r.Action != migration.ActionCreate:
		case r.Queue.IsAccess():
			add(newqueue.AccessPath, newqueue.AccessQueuePath(r.Queue.AccessQueue()))
		case state != newqueue.JobDeleted || p.Dialect.KeepsDeleted():
			add(newqueue.JobStatePath(state))
		}
	}
	add(newqueue.LocksPath, newqueue.QueueLocksPath)
	for _, path := range need {
		if _, there := b.in.Target.Layout[path]; !there {
			p.Layout = append(p.Layout, path)
		}
	}
}

// planOneRun refuses a run beside one that was neither rolled back nor completed: what came since, follow adds to that one.
func (b *Builder) planOneRun() {
	if run := b.in.Target.Ledger.Standing(); run != nil {
		next := fmt.Sprintf("when it is released, follow moves them; or roll %s back, and plan again", run.ID)
		if !run.Origin.OneEnsemble {
			next = fmt.Sprintf("roll %s back, and plan again", run.ID)
		}
		b.problem(migration.Problem{Kind: migration.ProblemRunStands, Path: ledger.RunPath(run.ID), Message: fmt.Sprintf("%s is neither rolled back nor completed, so no other run can begin; records that it did not migrate: %d", run.ID, b.plan.Count(migration.ActionCreate)),
			Next: next})
	}
}

// planHolds refuses to hold queues whose workers may be processing jobs that a rollback kept, or those of a completed migration: they would stop.
func (b *Builder) planHolds() {
	left := slices.ContainsFunc(b.in.Target.Ledger.Runs, func(run migration.Run) bool { return !run.Completed.IsZero() || run.Stayed > 0 })
	for _, q := range newqueue.QueueHolds {
		if left && b.in.Target.Hold(q) == nil {
			b.problem(migration.Problem{Kind: migration.ProblemReleased, Path: newqueue.QueueHoldPath(q), Message: "its workers may be at work on the jobs of an earlier run, and this migration would hold it: they would stop",
				Next: "if they may stop until the release, hold it first"})
		}
	}
}

// planRestored refuses to add to a target that was restored from a backup, unless the
// operator knows it.
func (b *Builder) planRestored() {
	if b.plan.Empty() || !b.in.Target.RestoredUnnoted() || b.in.Options.Restored {
		return
	}
	b.problem(migration.Problem{Kind: migration.ProblemRestored, Path: ledger.RunPath(b.plan.Previous.ID), Message: "the target was restored from a backup: a job that was finished after the backup was made would run again",
		Next: "if that is acceptable, say that you know that it was restored"})
}

// Dialect returns the plan's dialect.
func (b *Builder) Dialect() newqueue.Dialect { return b.plan.Dialect }
