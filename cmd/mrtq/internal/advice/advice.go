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
	"mrtq/migrate"
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

// Situation is what a row can name. What is not known is left empty.
type Situation struct {
	Source, Target string
	Run            *migrate.Run // the newest one
	Plan           *migrate.Plan
	PlanFile       string // in which the plan is saved
	Holds          []migrate.HoldStatus
	NoQueue        *migrate.NoQueue // what is at Target instead of a new queue
	Undecided      []migrate.UndecidedRecord
	AtWork         int // how many records and locks, or jobs, show that workers may be at work
	// Quarantined says that records are in quarantine. Quarantine is the file that keeps
	// their bytes, "" if it is not known.
	Quarantined bool
	Quarantine  string
}

// row is what to do in a step. words come before the command; they end with a colon, or
// with a full stop if there is no command.
type row struct {
	words   string
	command func(Adviser, Situation) string
}

var rows = map[migrate.Step]row{
	migrate.StepWait:           {"Next: wait until it ends. Its progress:", Adviser.watch},
	migrate.StepRestoreLedger:  {"Next:", Adviser.restoreLedger},
	migrate.StepNoQueue:        {"Check the address and its chroot. If nothing was migrated yet, that is normal, and the next step is:", Adviser.firstPlan},
	migrate.StepLegacyQueue:    {"Next, with the address of the new queue:", Adviser.atNewQueue},
	migrate.StepFinish:         {"Next, to finish it:", Adviser.finish},
	migrate.StepFinishRollback: {"Next, to finish it:", Adviser.rollback},
	migrate.StepRestored:       {"Next, if that is acceptable:", Adviser.releaseRestored},
	migrate.StepDecideRecords:  {"", Adviser.decideRecords},
	migrate.StepMigrateRest:    {"Next, for the records that are not migrated:", Adviser.planRest},
	migrate.StepRelease:        {"Next, to verify and release:", Adviser.release},
	migrate.StepLookFirst:      {"Next, if what was acted on is as it should be:", Adviser.release},
	migrate.StepAwaitLegacy:    {"When they are done:", Adviser.awaitLegacy},
	migrate.StepReleaseOthers:  {"Next, once their owners agree:", Adviser.releaseOthers},
	migrate.StepPlan:           {"Next:", Adviser.planAgain},
	migrate.StepDecide:         {"", Adviser.unblock},
	migrate.StepMigrate:        {"Next:", Adviser.migrate},
	migrate.StepVerify:         {"Next:", Adviser.verify},
	migrate.StepKeep:           {"If that file is lost, run the same migration again. It adds what the file lacks, and nothing else:", Adviser.keep},
	migrate.StepRepairHeld:     {"Repair what is damaged, and verify again:", Adviser.verify},
	migrate.StepRepair:         {"Repair what is damaged. If that is not possible, roll back what workers have not begun:", Adviser.rollback},
	migrate.StepRepairOlder:    {"Repair what is damaged: it belongs to an older run, or to a job that the rollback kept. To see the runs:", Adviser.status},
}

// Next says what to do in a step, in a sentence that ends with a command; "" for no step.
func (a Adviser) Next(step migrate.Step, s Situation) string {
	r, ok := rowOf(step, s)
	if !ok {
		return ""
	}
	return strings.TrimSpace(r.words + " " + r.command(a, s))
}

// rowOf is the row of a step. A release is refused if the queues are in two ensembles, so another step comes first.
func rowOf(step migrate.Step, s Situation) (row, bool) {
	releases := []migrate.Step{migrate.StepRelease, migrate.StepLookFirst, migrate.StepDecideRecords, migrate.StepRestored}
	if slices.Contains(releases, step) && s.inTwoEnsembles() && s.Run.State != migrate.RolledBack {
		return row{"", Adviser.bringTogether}, true
	}
	r, ok := rows[step]
	return r, ok
}

// CommandOf is the command of a step alone; "" for no step, and if the row has more words or several commands.
func (a Adviser) CommandOf(step migrate.Step, s Situation) string {
	if r, ok := rowOf(step, s); ok && r.words != "" && step != migrate.StepAwaitLegacy {
		return r.command(a, s)
	}
	return ""
}

func (a Adviser) watch(s Situation) string {
	return a.Command("status", []string{s.Target}, Set("every", "10s")...)
}

func (a Adviser) restoreLedger(s Situation) string {
	return a.Command("restore", []string{s.Target}, append(Set("in", "FILE"), Set("below", "/migration")...)...)
}

func (a Adviser) firstPlan(s Situation) string {
	return a.Command("plan", []string{s.source(), s.Target}, append(Set("dialect", "design|mrt-zk"), Switch("new-queue"))...)
}

// atNewQueue is the command that runs, for the new queue of the legacy queue that it was given: the
// one that is below it, if there is one alone.
func (a Adviser) atNewQueue(s Situation) string {
	args := []string{"TARGET"}
	if isServer(s.Target) && len(s.NoQueue.Queues) == 1 {
		args[0] = strings.TrimSuffix(s.Target, "/") + "/" + s.NoQueue.Queues[0]
	}
	return commandLine(a.Name, append(args, a.Args[1:]...), slices.DeleteFunc(slices.Clone(a.Given), func(f Flag) bool { return f.Name == "output" }))
}

// finish ends a run. Its record has the source and the choices, unless the source is in another ensemble.
func (a Adviser) finish(s Situation) string {
	if !s.inTwoEnsembles() {
		return a.Command("migrate", []string{s.Target})
	}
	return a.Command("migrate", []string{s.source(), s.Target})
}

func (a Adviser) rollback(s Situation) string {
	return a.Command("rollback", []string{s.Target}, Set("run", s.Run.ID)...)
}

func (a Adviser) releaseRestored(s Situation) string {
	return a.Command("release", []string{s.Target}, Switch("restored"))
}

func (a Adviser) release(s Situation) string { return a.Command("release", []string{s.Target}) }

// decideRecords has a command for each answer about the first record that is undecided.
func (a Adviser) decideRecords(s Situation) string {
	return a.decide(s, func(flags ...Flag) string { return a.Command("release", []string{s.Target}, flags...) })
}

// DecideBack is the same for a rollback.
func (a Adviser) DecideBack(s Situation) string {
	return a.decide(s, func(flags ...Flag) string { return a.again("rollback", flags...) })
}

func (a Adviser) decide(s Situation, command func(flags ...Flag) string) string {
	if len(s.Undecided) == 0 {
		return a.status(s)
	}
	u := s.Undecided[0]
	if u.Question == migrate.LastCopy {
		return "If legacy workers have done their work: " + command(Set("vanished", "legacy")...) + ". If the jobs are to run: " + command(Set("vanished", "new")...)
	}
	isNew, isLegacy := "If the job has the work of "+u.Record, "If the legacy queue has it"
	if u.Question == migrate.JobGone {
		isNew, isLegacy = "If the work of "+u.Record+" was done in the new queue", "If legacy workers are to do it"
	}
	is := func(side migrate.Answer) string {
		return ": " + command(Set("record-is", string(side)+"="+u.Record)...)
	}
	return isNew + is(migrate.IsNew) + ". " + isLegacy + is(migrate.IsLegacy)
}

// awaitLegacy goes on when no legacy worker is at work any more.
func (a Adviser) awaitLegacy(s Situation) string {
	a.Given = slices.DeleteFunc(slices.Clone(a.Given), func(f Flag) bool { return f.Name == "workers-stopped" })
	return a.again("release") + ". If no legacy worker runs any more: " + a.again("release", Set("workers-stopped", fmt.Sprint(s.AtWork))...)
}

// again is the command that runs, or another one with its target, with more flags.
func (a Adviser) again(name string, flags ...Flag) string {
	if a.Name == name {
		a.Given = slices.DeleteFunc(slices.Clone(a.Given), func(f Flag) bool { return f.Name == "output" || f.Name == "dry-run" })
		return a.Again(flags...)
	}
	return a.Command(name, a.Args, flags...)
}

// releaseOthers names the holds of which no run is an owner.
func (a Adviser) releaseOthers(s Situation) string {
	return a.Lift(s, slices.DeleteFunc(slices.Clone(s.Holds), migrate.HoldStatus.OfRun))
}

// AfterRelease says what to do when nothing is held any more. freed says that this call lifted holds
// at a server, so that services can begin.
func (a Adviser) AfterRelease(s Situation, freed bool) string {
	if !freed {
		return "Next, to see where the migration stands: " + a.status(s)
	}
	return "Next, start the new services, and watch their first jobs: " + a.watch(s)
}

// isServer reports whether an address is that of a server.
func isServer(address string) bool {
	p, err := sides.Parse(address)
	return err == nil && p.File == ""
}

// Lift is the command that lifts these holds.
func (a Adviser) Lift(s Situation, holds []migrate.HoldStatus) string {
	flags := []Flag{Switch("others")}
	if slices.ContainsFunc(holds, migrate.HoldStatus.OfRun) {
		flags = nil
	}
	for _, h := range holds {
		flags = append(flags, holdFlag(h))
	}
	return a.Command("release", []string{s.Target}, flags...)
}

// holdFlag is the flag that chooses a hold.
func holdFlag(h migrate.HoldStatus) Flag {
	if h.Collection != "" {
		return Flag{"collection", []string{List(h.Collection)}}
	}
	return Flag{"only", []string{string(h.Queue)}}
}

func (a Adviser) planRest(s Situation) string {
	var flags []Flag
	if len(s.Run.Releases) > 0 {
		flags = append(flags, Switch("hold-again"))
	}
	return a.Command("plan", []string{s.source(), s.Target}, flags...)
}

func (a Adviser) planAgain(s Situation) string {
	if s.Run == nil {
		return a.firstPlan(s)
	}
	return a.Command("plan", []string{s.source(), s.Target})
}

func (a Adviser) verify(s Situation) string {
	if s.inTwoEnsembles() {
		return a.Command("verify", []string{s.Target, s.source()}, append(s.quarantine(), s.queues()...)...)
	}
	return a.Command("verify", []string{s.Target}, s.quarantine()...)
}

func (a Adviser) keep(s Situation) string {
	return a.Command("migrate", []string{s.source(), s.Target}, s.quarantine()...)
}

// bringTogether copies the legacy queue, or the dump that has it, to the target's ensemble. In a dump, it is migrated where it is.
func (a Adviser) bringTogether(s Situation) string {
	source, _ := sides.Parse(s.source())
	target, _ := sides.Parse(s.Target)
	if source.File != "" && target.File != "" {
		flags := append(choices(s.Run.Choices, s.Run.Time), Flag{"dialect", []string{string(s.Run.Dialect)}}, Switch("new-queue"))
		return "A release needs both queues in one dump. To migrate in the dump of the legacy queue: " + a.Command("plan", []string{s.source(), s.source()}, flags...)
	}
	words := "A release needs both queues in one ensemble. Stop the legacy workers, copy their queue beside the new one, roll back, and migrate the copy. Next: "
	if source.File != "" {
		return words + a.Command("restore", []string{strings.TrimSuffix(s.Target, target.Server.Chroot)}, Set("in", source.File)...)
	}
	return words + a.Command("dump", []string{s.source()}, Set("out", "legacy.ndjson")...)
}

// inTwoEnsembles reports whether the run has taken its records from another ensemble, or from another file.
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
	if !s.Quarantined && s.Quarantine == "" {
		return nil
	}
	if s.Quarantine == "" {
		return Set("quarantine", "FILE")
	}
	return Set("quarantine", s.Quarantine)
}

// choices are the choices that are not the defaults.
func choices(c migrate.Choices, time string) (flags []Flag) {
	for _, choice := range migrate.AllChoices {
		if v := *choice.Value(&c); v != "" && v != choice.Values[0] {
			flags = append(flags, Set(choice.Name, v)...)
		}
	}
	if time != "" && time != "auto" {
		flags = append(flags, Set("time", time)...)
	}
	return flags
}

// acl is the flag of an ACL that is not open to all. It does not show the ACL, because that
// may hold a digest, which is secret.
func acl(list []migrate.ACL) []Flag {
	if len(list) == 0 {
		return nil
	}
	return Set("acl", "ACL")
}

// dialects are the values of --dialect, for an operator who has to choose.
func dialects() string {
	var names []string
	for _, d := range newqueue.Dialects {
		names = append(names, string(d))
	}
	return strings.Join(names, "|")
}
