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
	"cmp"
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
	ActedOn        int              // how many jobs and batches were acted on
	Twice          string           // a record that could run twice
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
	migrate.StepWait:           {"Next: wait until it ends, then look again. Its progress:", Adviser.watch},
	migrate.StepRestoreLedger:  {"Next:", Adviser.restoreLedger},
	migrate.StepNoQueue:        {"Check the address and its chroot. If nothing was migrated yet, that is normal, and the next step is:", Adviser.firstPlan},
	migrate.StepLegacyQueue:    {"Next, with the address of the new queue:", Adviser.atNewQueue},
	migrate.StepFinish:         {"Next, to finish it, with the flags of its first call:", Adviser.finish},
	migrate.StepFinishRollback: {"Next, to finish it:", Adviser.rollback},
	migrate.StepFinishRetire:   {"Next, to finish it:", Adviser.retire},
	migrate.StepRestored:       {"Next, if that is acceptable:", Adviser.releaseRestored},
	migrate.StepStopLegacy:     {"Stop the legacy workers. Then roll back, and migrate again:", Adviser.rollback},
	migrate.StepHold: {"Stop the legacy workers. To hold the new queues until you know what ran:",
		func(a Adviser, s Situation) string {
			return a.Command("hold", []string{s.Target}, Set("why", "legacy workers ran")...)
		}},
	migrate.StepLookAtTwice: {"Stop the legacy workers. If only one of a record and its job has done the work, delete the other. To look at both:",
		func(a Adviser, s Situation) string {
			return a.Command("show", []string{s.source(), s.Target, cmp.Or(s.Twice, "RECORD")})
		}},
	migrate.StepMigrateRest:   {"Next, for the records that are not migrated:", Adviser.planRest},
	migrate.StepRelease:       {"Next, to verify and release:", Adviser.release},
	migrate.StepAcceptActedOn: {"Next, if what was acted on is as it should be:", Adviser.acceptActedOn},
	migrate.StepReleaseOthers: {"Next, once their owners agree:", Adviser.releaseOthers},
	migrate.StepKept:          {"The legacy records of jobs that the rollback kept, or that other clients removed, must not run again. Next, before legacy workers start, remove these records from the legacy queue:", Adviser.retire},
	migrate.StepPlan:          {"Next:", Adviser.planAgain},
	migrate.StepDecide:        {"", Adviser.unblock},
	migrate.StepMigrate:       {"Next:", Adviser.migrate},
	migrate.StepVerify:        {"Next:", Adviser.verify},
	migrate.StepKeep:          {"If that file is lost, run the same migration again. It adds what the file lacks, and nothing else:", Adviser.keep},
	migrate.StepRepairHeld:    {"Repair what is damaged, and verify again:", Adviser.verify},
	migrate.StepRepair:        {"Repair what is damaged. If that is not possible, roll back what workers have not changed:", Adviser.rollback},
	migrate.StepRepairOlder:   {"Repair what is damaged: it belongs to an older run, or to a job that the rollback kept. To see the runs:", Adviser.status},
}

// Next says what to do in a step, in a sentence that ends with a command; "" for no step.
func (a Adviser) Next(step migrate.Step, s Situation) string {
	r, ok := rows[step]
	if !ok {
		return ""
	}
	return strings.TrimSpace(r.words + " " + r.command(a, s))
}

// CommandOf is the command of a step alone; "" for no step.
func (a Adviser) CommandOf(step migrate.Step, s Situation) string {
	if r, ok := rows[step]; ok && step != migrate.StepDecide {
		return r.command(a, s)
	}
	return ""
}

func (a Adviser) watch(s Situation) string { return a.Command("watch", []string{s.Target}) }

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
	switch a.Name {
	case "hold":
	case "retire":
		args = []string{s.Target, args[0]}
	default:
		args = append(args, s.Target)
	}
	return commandLine(a.Name, args, slices.DeleteFunc(slices.Clone(a.Given), func(f Flag) bool { return f.Name == "output" }))
}

func (a Adviser) finish(s Situation) string {
	return a.Command("migrate", []string{s.source(), s.Target}, choices(s.Run.Choices, s.Run.Time)...)
}

func (a Adviser) rollback(s Situation) string {
	args := []string{s.Target}
	if len(s.Run.Releases) > 0 {
		args = append(args, s.source())
	}
	return a.Command("rollback", args, Set("run", s.Run.ID)...)
}

func (a Adviser) retire(s Situation) string {
	return a.Command("retire", []string{s.source(), s.Target})
}

func (a Adviser) releaseRestored(s Situation) string {
	return a.Command("release", []string{s.Target, s.source()}, append(s.quarantine(), Switch("restored"))...)
}

func (a Adviser) release(s Situation) string {
	return a.Command("release", []string{s.Target, s.source()}, s.quarantine()...)
}

func (a Adviser) acceptActedOn(s Situation) string {
	flags := append(s.quarantine(), Set("acted-on", fmt.Sprint(s.ActedOn))...)
	return a.Command("release", []string{s.Target, s.source()}, flags...) +
		". Otherwise, roll back and migrate again: " + a.rollback(s)
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
	args := []string{s.Target}
	if isServer(s.Source) {
		args = append(args, s.Source) // records that come late show there
	}
	return "Next, start the new services, and watch their first jobs: " + a.Command("watch", args)
}

// isServer reports whether an address is that of a server.
func isServer(address string) bool {
	p, err := sides.Parse(address)
	return err == nil && p.File == "" && p.Data == nil
}

// Lift is the command that lifts these holds. If a run has set one of them, it verifies first.
func (a Adviser) Lift(s Situation, holds []migrate.HoldStatus) string {
	args, flags := []string{s.Target}, []Flag{Switch("others")}
	if slices.ContainsFunc(holds, migrate.HoldStatus.OfRun) {
		args, flags = append(args, s.source()), s.quarantine()
	}
	for _, h := range holds {
		flags = append(flags, holdFlag(h))
	}
	return a.Command("release", args, flags...)
}

// holdFlag is the flag that chooses a hold.
func holdFlag(h migrate.HoldStatus) Flag {
	if h.Collection != "" {
		return Flag{"collection", []string{List(h.Collection)}}
	}
	return Flag{"only", []string{string(h.Queue)}}
}

func (a Adviser) planRest(s Situation) string {
	flags := append(choices(s.Run.Choices, s.Run.Time), decisions(s.Run.Choices)...)
	if len(s.Run.Releases) > 0 {
		flags = append(flags, Switch("hold-again"))
	}
	return a.Command("plan", []string{s.source(), s.Target}, append(flags, acl(s.Run.ACL)...)...)
}

func (a Adviser) planAgain(s Situation) string {
	if s.Run == nil {
		return a.firstPlan(s)
	}
	return a.Command("plan", []string{s.source(), s.Target}, slices.Concat(choices(s.Run.Choices, s.Run.Time), decisions(s.Run.Choices), acl(s.Run.ACL))...)
}

func (a Adviser) verify(s Situation) string {
	return a.Command("verify", []string{s.source(), s.Target}, append(s.quarantine(), s.queues()...)...)
}

func (a Adviser) keep(s Situation) string {
	return a.Command("migrate", []string{s.source(), s.Target}, slices.Concat(choices(s.Run.Choices, s.Run.Time), decisions(s.Run.Choices), s.quarantine())...)
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

// decisions is the flag for choices about single records, if a run had any: their file.
func decisions(c migrate.Choices) []Flag {
	if len(c.Decided) == 0 {
		return nil
	}
	return Set("decisions", "FILE")
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
