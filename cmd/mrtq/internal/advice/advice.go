// Package advice says what to do next, with a command that can be pasted into a shell.
// Package migrate decides which step is next. Here is a row for each step: the words, and
// the command with its flags.
//
//	advice.go   a row for each step
//	plan.go     the flags that solve a plan's problems
//	refusal.go  a row for each refusal of package migrate
//	command.go  commands and their flags, in one order, quoted for a shell
package advice

import (
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/sides"
	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// Adviser knows the command that runs.
type Adviser struct {
	Name  string   // of the command
	Args  []string // that it was given
	Given []Flag   // that were typed
	// Takes reports whether a command has a flag. Command "" has those of all commands.
	Takes func(command, flag string) bool
}

// Situation is what a row can name. What is not known is empty.
type Situation struct {
	Source, Target string
	Run            *migration.Run // the newest one
	Plan           *migration.Plan
	PlanFile       string // in which the plan is saved
	Settings       []Flag // with which it was made; none if this command made it
	Rehearsal      string // the file with a rehearsal; "" if there is none in this folder
	Holds          []migration.Hold
	NoQueue        *migration.NoQueue // what is at Target instead of a new queue
	Undecided      []migration.Note
	AtWork         int    // how many records and locks, or jobs, show that workers may be at work
	JobsStay       bool   // jobs that a rollback has kept are there
	Held           int    // how many queues runs hold
	Waiting        bool   // records wait for legacy workers
	Releasing      bool   // a release has begun, so what comes before it was done
	InUse          bool   // an earlier run was released, so the new services work already
	Quarantine     string // the file that keeps the bytes of quarantined records; "" if there are none, or it is not known
}

// Next is what to do after a result. A command in it can be pasted as it is.
type Next struct {
	First   string   // what people do first; alone, it is all there is to do
	With    []string // the commands for First
	Command string
	Ways    []Way // instead of Command, if a person must decide
}

// Way is what a person can decide, and the command for it; "" if there is nothing to do.
type Way struct{ If, Command string }

// Lines returns what a screen shows.
func (n Next) Lines() (lines []string) {
	switch {
	case n.First != "" && n.Command == "" && len(n.Ways) == 0:
		return []string{"Next: " + n.First + "."}
	case len(n.With) > 0:
		lines = append(lines, "First: "+n.First+":")
	case n.First != "":
		lines = append(lines, "First: "+n.First+".")
	}
	for _, command := range n.With {
		lines = append(lines, "  "+command)
	}
	if n.Command != "" {
		lines = append(lines, "Next:", "  "+n.Command)
	}
	if len(n.Ways) > 0 {
		lines = append(lines, "Choose:")
	}
	for _, way := range n.Ways {
		if way.Command == "" {
			lines = append(lines, "  "+way.If+".")
		} else {
			lines = append(lines, "  "+way.If+":", "    "+way.Command)
		}
	}
	return lines
}

var rows = map[migrate.NextStep]func(Adviser, Situation) Next{
	migrate.StepWait:           row("wait until it ends. This shows its progress", Adviser.watch),
	migrate.StepRestoreLedger:  Adviser.restoreLedger,
	migrate.StepNoQueue:        words("check the address and its chroot. If nothing has been migrated yet, that is normal: begin with a plan"),
	migrate.StepLegacyQueue:    Adviser.atNewQueue,
	migrate.StepFinish:         row("", Adviser.finish),
	migrate.StepFinishRollback: row("", Adviser.rollback),
	migrate.StepRestored:       row("accept that jobs that finished after the backup was made will run again", Adviser.releaseRestored),
	migrate.StepDecideRecords:  Adviser.decideRecords,
	migrate.StepFollow:         row("", Adviser.follow),
	migrate.StepRelease:        releaseAfter(),
	migrate.StepLookFirst:      releaseAfter("make sure that the jobs that were acted on are as they should be"),
	migrate.StepAwaitLegacy:    Adviser.awaitLegacy,
	migrate.StepComplete:       row("", Adviser.complete),
	migrate.StepReleaseOthers:  Adviser.releaseOthers,
	migrate.StepPlan:           Adviser.planAgain,
	migrate.StepDecide:         Adviser.unblock,
	migrate.StepMigrate:        Adviser.migrate,
	migrate.StepVerify:         row("", Adviser.verify),
	migrate.StepKeep:           row("look for that file. If it is lost, run this: it writes the missing bytes, and nothing else", Adviser.keep),
	migrate.StepRepairHeld:     row("repair what is damaged", Adviser.verify),
	migrate.StepRepair:         Adviser.repair,
	migrate.StepRepairKept:     row("repair what is damaged: it belongs to a job that the rollback kept", Adviser.verify),
}

func row(first string, command func(Adviser, Situation) string) func(Adviser, Situation) Next {
	return func(a Adviser, s Situation) Next { return Next{First: first, Command: command(a, s)} }
}

func words(text string) func(Adviser, Situation) Next {
	return func(Adviser, Situation) Next { return Next{First: text} }
}

// Next returns what to do in a step; nothing for no step. A release is refused if the queues are in
// two ensembles, so another step comes first.
func (a Adviser) Next(step migrate.NextStep, s Situation) Next {
	releases := []migrate.NextStep{migrate.StepRelease, migrate.StepLookFirst, migrate.StepDecideRecords, migrate.StepRestored}
	if slices.Contains(releases, step) && s.inTwoEnsembles() && s.Run.State != migration.RunRolledBack {
		return Next{First: "bring both queues into one ensemble, or into one dump, and migrate there (docs/migration.md, Two ensembles)"}
	}
	if next, ok := rows[step]; ok {
		return next(a, s)
	}
	return Next{}
}

func (a Adviser) watch(s Situation) string {
	return a.Command("status", []string{s.Target}, Set("every", "10s")...)
}

// atNewQueue is the command that runs, for the new queue of the legacy queue that it was given: the
// one that is below it, if there is one alone.
func (a Adviser) atNewQueue(s Situation) Next {
	if !isServer(s.Target) || len(s.NoQueue.Queues) != 1 {
		return Next{First: "give the address of the new queue"}
	}
	a.Args = slices.Concat([]string{strings.TrimSuffix(s.Target, "/") + "/" + s.NoQueue.Queues[0]}, a.Args[1:])
	return Next{Command: a.Again()}
}

// finish ends a run. Its record has the source and the choices, unless the source is in another ensemble.
func (a Adviser) finish(s Situation) string {
	if !s.inTwoEnsembles() {
		return a.Command("migrate", []string{s.Target})
	}
	return a.Command("migrate", []string{s.source(), s.Target}, s.queues()...)
}

func (a Adviser) rollback(s Situation) string {
	return a.Command("rollback", []string{s.Target})
}

func (a Adviser) releaseRestored(s Situation) string {
	return a.Command("release", []string{s.Target}, Switch("restored"))
}

func (a Adviser) release(s Situation) string { return a.Command("release", []string{s.Target}) }

func (a Adviser) complete(s Situation) string { return a.Command("complete", []string{s.Target}) }

func (a Adviser) follow(s Situation) string { return a.Command("follow", []string{s.Target}) }

func releaseAfter(first ...string) func(Adviser, Situation) Next {
	return func(a Adviser, s Situation) Next {
		next := a.beforeRelease(s, first...)
		next.Command = a.release(s)
		return next
	}
}

// beforeRelease is what the runbook has before a first release, after what else comes first. status does not know
// whether somebody has verified.
func (a Adviser) beforeRelease(s Situation, first ...string) (next Next) {
	if s.Run != nil && s.Run.State == migration.RunDone && len(s.Run.Releases) == 0 && !s.Releasing && a.Name != "release" {
		target := []string{s.Target}
		if a.Name == "status" {
			first, next.With = append(first, "verify"), append(next.With, a.verify(s))
		}
		if !s.InUse {
			first = append(first, "check the tree", "keep a copy of it", "and hold each collection (PROFILE) that has a legacy hold file (QueueHoldFile, with _PROFILE at the end), if any")
			next.With = append(next.With, a.Command("check", target), a.Command("dump", target, Set("out", "new.ndjson.gz")...), a.Command("hold", target, Set("collection", shellVariable+"PROFILE")...))
		}
	}
	next.First = strings.Join(first, ", ")
	return next
}

// restoreLedger brings the migration's own records back. A dump is restored as a file.
func (a Adviser) restoreLedger(s Situation) Next {
	if !isServer(s.Target) {
		return Next{First: "take the newest copy of this dump that was made after the last migrate, release or rollback"}
	}
	return Next{First: "set DUMP to a dump that was made after the last migrate, release or rollback", Command: a.Command("restore", []string{s.Target}, append(Set("in", shellVariable+"DUMP"), Set("below", "/migration")...)...)}
}

func (a Adviser) repair(s Situation) Next {
	if !s.Run.CanGoBack() {
		return Next{First: "repair what is damaged", Command: a.verify(s)}
	}
	return Next{Ways: []Way{{"If you can repair what is damaged, repair it, and then verify", a.verify(s)}, {"If not, roll back what no service has begun", a.rollback(s)}}}
}

func (a Adviser) decideRecords(s Situation) Next {
	next := a.decide(s, func(flags ...Flag) string { return a.Command("release", []string{s.Target}, flags...) })
	before := a.beforeRelease(s)
	next.First, next.With = before.First, before.With
	return next
}

// DecideRollback is the same for a rollback.
func (a Adviser) DecideRollback(s Situation) Next {
	return a.decide(s, func(flags ...Flag) string { return a.rerun("rollback", flags...) })
}

func (a Adviser) decide(s Situation, command func(flags ...Flag) string) Next {
	if len(s.Undecided) == 0 {
		return Next{Command: a.status(s)}
	}
	asks := func(q migration.Question) bool {
		return slices.ContainsFunc(s.Undecided, func(n migration.Note) bool { return n.Question == q })
	}
	leave := Set("vanished", "legacy")
	switch taken := asks(migration.QuestionTaken); {
	case asks(migration.QuestionVanished): // first, because --vanished answers both questions, and what is right for taken records can cost the work of these
		done := "If the work of these records was done, or other records now have it"
		if taken {
			done = "If the other target keeps the records that it has, and the work of the rest was done, or other records now have it"
		}
		return Next{Ways: []Way{{done, command(leave...)}, {"If it was not done, so their jobs must run", command(Set("vanished", "new")...)}}}
	case taken:
		ways := []Way{{"If the other target keeps these records", command(leave...)}}
		if a.Name != "rollback" {
			ways = append(ways, Way{"If this target is the mistake", a.Command("rollback", []string{s.Target}, leave...)})
		}
		return Next{Ways: append(ways, Way{"If the other one is the mistake, roll that back first, and then", command()})}
	}
	u := s.Undecided[0]
	record, key := u.Record, u.Record
	if u.Namesake {
		record, key = u.Record+" (its job is "+u.Job+")", u.Job
	}
	isNew, isLegacy := "If the job has the work of "+record, "If the legacy queue has it"
	if u.Question == migration.QuestionJobGone {
		isNew, isLegacy = "If the work of "+record+" was done in the new queue", "If legacy workers are to do it"
	}
	is := func(side migration.Answer) string {
		return command(Set("record-is", string(side)+"="+key)...)
	}
	return Next{Ways: []Way{{isNew, is(migration.AnswerNew)}, {isLegacy, is(migration.AnswerLegacy)}}}
}

// awaitLegacy goes on when no legacy worker is at work any more. With --workers-stopped, the records
// that wait for legacy workers after a rollback would stay there.
func (a Adviser) awaitLegacy(s Situation) Next {
	a.Given = without(a.Given, "workers-stopped", "vanished") // what was decided is done, and other records may vanish
	if s.Waiting {
		return Next{First: "start the legacy workers, which have had the records since the rollback, and wait until they are done; or migrate again", Command: a.rerun("release")}
	}
	return Next{Ways: []Way{{"When the legacy workers are done", a.rerun("release")}, {"If all legacy workers are stopped", a.rerun("release", Set("workers-stopped", fmt.Sprint(s.AtWork))...)}}}
}

func (a Adviser) rerun(name string, flags ...Flag) string {
	if a.Name == name {
		return a.Really(flags...)
	}
	return a.Command(name, a.Args, flags...)
}

// StillHeld returns what to do when queues are still held after a release.
func (a Adviser) StillHeld(s Situation) Next {
	if slices.ContainsFunc(s.Holds, migration.Hold.OfRun) {
		return Next{Command: a.release(s)}
	}
	return a.releaseOthers(s)
}

// releaseOthers names the holds on queues of which no run is an owner. Holds on collections can stay
// as long as their owners want.
func (a Adviser) releaseOthers(s Situation) Next {
	flags := []Flag{Switch("others")}
	for _, h := range s.Holds {
		if h.Queue != "" && !h.OfRun() {
			flags = append(flags, Set("only", string(h.Queue))...)
		}
	}
	if len(flags) == 1 {
		return a.WhileServicesWork(s)
	}
	return Next{First: "make sure that the owners of these holds agree", Command: a.Command("release", []string{s.Target}, flags...)}
}

// finish is what the new services do with what a rollback kept.
const finish = "finish what stays, stop them when nothing is left but completed or failed requests, and held or failed jobs with their batches"

// AfterRelease returns what to do when no queue is held any more: nothing else if these holds were on
// collections only. freed says that holds at a server were lifted, so that services can begin.
func (a Adviser) AfterRelease(s Situation, lifted []string, freed bool) Next {
	switch {
	case len(lifted) > 0 && !slices.ContainsFunc(lifted, func(path string) bool { return znode.Parent(path) != newqueue.CollectionLocksPath }):
		return Next{}
	case !freed:
		return Next{Command: a.status(s)}
	}
	next := Next{First: "start the new services, if they don't run yet", Command: a.watch(s)}
	switch {
	case s.Run == nil:
	case s.Run.State == migration.RunRolledBack: // these jobs are what rollbacks kept
		next.First = "start the new services, let them " + finish + ", and then let submissions to the legacy queue resume"
	case !s.inTwoEnsembles():
		next.First, next.With = "start the new services and follow, if they don't run yet", []string{a.follow(s)}
	}
	return next
}

// WhileServicesWork returns what to do while the services work, and when a verification has found nothing;
// nothing if no run is done, or the migration is completed.
func (a Adviser) WhileServicesWork(s Situation) Next {
	if s.Run == nil || s.Run.State != migration.RunDone || !s.Run.CanGoBack() {
		return Next{}
	}
	forward := Way{"To look at what the services have done", a.verify(s)}
	if a.Name == "verify" {
		forward = Way{"To end the migration, some days later, when you are sure that you won't go back", a.complete(s)}
	}
	return Next{Ways: []Way{forward, {"To go back, when the new services are stopped", a.Command("rollback", []string{s.Target}, Switch("dry-run"))}}}
}

// HeldByRuns counts the queues that runs hold.
func HeldByRuns(holds []migration.Hold) (n int) {
	for _, h := range holds {
		if h.OfRun() {
			n++
		}
	}
	return n
}

func isServer(address string) bool {
	p, err := sides.Parse(address)
	return err == nil && p.File == ""
}

func (s Situation) planFile() string {
	if s.Run == nil {
		return "plan.json"
	}
	return "again.json"
}

func (a Adviser) planAgain(s Situation) Next {
	if s.Run == nil {
		return Next{First: "begin with a plan"}
	}
	plan := a.Command("plan", []string{s.source(), s.Target}, s.queues()...)
	if s.Held > 0 {
		return Next{Ways: []Way{{"To let the new services finish what stays, when the legacy workers are done (no pending or consumed record is left). Stop submissions until the services have finished", a.release(s)}, {"To migrate again, when the legacy workers are stopped", plan},
			{"To stay with the legacy queue, let its workers and submitters run. What stays is held, and its batches are not reported", ""}}}
	}
	stay := "To stay with the legacy queue, let its workers and submitters run: mrtq has nothing left to do"
	if s.JobsStay {
		stay = "To stay with the legacy queue, let the new services " + finish + ", and then let submitters run: mrtq has nothing left to do"
	}
	return Next{Ways: []Way{{stay, ""}, {"To migrate again, when the legacy workers are stopped", plan}}}
}

func (a Adviser) verify(s Situation) string {
	if s.inTwoEnsembles() {
		return a.Command("verify", []string{s.Target, s.source()}, slices.Concat(s.quarantine(), s.queues())...)
	}
	return a.Command("verify", []string{s.Target}, s.quarantine()...)
}

func (a Adviser) keep(s Situation) string {
	return a.Command("migrate", []string{s.source(), s.Target}, slices.Concat(s.quarantine(), s.queues())...)
}

func (s Situation) inTwoEnsembles() bool {
	return s.Run != nil && s.Run.Origin.Chroot != "" && !s.Run.Origin.OneEnsemble
}

// source is the address of the legacy queue, as this command or the run names it. A run's
// record could hold a flag.
func (s Situation) source() string {
	source := s.Source
	if source == "" && s.Run != nil {
		source = s.Run.Source
	}
	if source == "" || source[0] == '-' {
		return "SOURCE"
	}
	return source
}

func (s Situation) quarantine() []Flag {
	if s.Quarantine == "" {
		return nil
	}
	return Set("quarantine", s.Quarantine)
}
