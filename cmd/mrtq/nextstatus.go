package main

import (
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// stateText says where a migration stands, in a clause.
func stateText(s *migrate.Status, target endpoint) string {
	newest, _ := s.Newest()
	switch s.Step {
	case migrate.StepWait:
		return "a migrator is at work now, so these numbers change; a migrator that was killed counts as at work until its session ends"
	case migrate.StepRebuild:
		return "the migration's own records are damaged"
	case migrate.StepFinish, migrate.StepFinishRollback:
		what := newest.Run
		if s.Step == migrate.StepFinishRollback {
			what = "the rollback of " + newest.Run
		}
		if target.file != "" { // perhaps a migrator was at work when the dump was made
			return fmt.Sprintf("%v: %s is unfinished", errUnfinished, what)
		}
		return fmt.Sprintf("%v: no migrator is working on %s", errUnfinished, what)
	}
	held := heldAndReleased(s)
	switch {
	case s.NoQueue != nil && held != "":
		return noQueueAt(target, s.NoQueue) + "; " + held + ". " + checkPlace
	case s.NoQueue != nil:
		return noQueueAt(target, s.NoQueue) + ". " + checkPlace
	case newest.Run == "" && held != "":
		return "no run is recorded here; " + held
	case newest.Run == "":
		return "no run is recorded here"
	case newest.State == migrate.RunRolledBack && held != "":
		return newest.Run + " was rolled back, and what it kept is still there; " + held
	case newest.State == migrate.RunRolledBack:
		return newest.Run + " was rolled back, and what it kept is still there"
	case held == "":
		return newest.Run + " is done, and no queue is held"
	case heldByRuns(s):
		return newest.Run + " is done, and the new queues are held"
	}
	return newest.Run + " is done; " + held
}

// stateShown is a run's state as status shows it. If a run was interrupted, its record
// says that it is running, and status says that it is unfinished.
func stateShown(s *migrate.Status, r migrate.RunStatus) string {
	if r.State == migrate.RunRunning && s.AtWork == 0 {
		return "unfinished"
	}
	return string(r.State)
}

// heldByRuns reports whether runs hold all queues, and there are no other holds.
func heldByRuns(s *migrate.Status) bool {
	return len(s.Holds) == len(newqueue.QueueHolds) && !slices.ContainsFunc(s.Holds, func(h migrate.HoldStatus) bool { return !migrate.IsRun(h.By) })
}

// heldAndReleased says who holds what, and what is not held. It is "" if nothing is held.
func heldAndReleased(s *migrate.Status) string {
	if len(s.Holds) == 0 {
		return ""
	}
	var holders []string
	names, released := map[string][]string{}, []string{}
	for _, h := range s.Holds {
		by := heldBy(h)
		if names[by] == nil {
			holders = append(holders, by)
		}
		names[by] = append(names[by], znode.Name(h.Path))
	}
	for _, q := range newqueue.QueueHolds {
		if !slices.ContainsFunc(s.Holds, func(h migrate.HoldStatus) bool { return h.Path == newqueue.QueueHoldPath(q) }) {
			released = append(released, string(q))
		}
	}
	var parts []string
	for _, by := range holders {
		parts = append(parts, fmt.Sprintf("held: %s by %s", strings.Join(names[by], ", "), by))
	}
	if len(released) > 0 && s.NoQueue == nil {
		parts = append(parts, "not held: "+strings.Join(released, ", "))
	}
	return strings.Join(parts, "; ")
}

// nextOf says what to do now, with the command for it. It is "" if there is nothing to do.
func (a *app) nextOf(s *migrate.Status, target endpoint) string {
	newest, _ := s.Newest()
	switch s.Step {
	case migrate.StepWait:
		return "Next: wait until it ends, then look again. Its progress: " + a.command("watch", []string{target.text})
	case migrate.StepRebuild:
		return "Next: " + a.command("rebuild", []string{target.text})
	case migrate.StepFinish:
		// The run is finished with its own ACL.
		again := a.command("migrate", []string{newest.Source, target.text}, runSettings(newest.Dialect, newest.Policies, nil)...)
		return fmt.Sprintf("Next: run the same mrtq migrate again, with its flags, to finish %s: %s", newest.Run, again)
	case migrate.StepFinishRollback:
		return "Next, to finish it: " + a.command("rollback", []string{target.text}, newFlag("run", newest.Run))
	case migrate.StepRelease:
		return "Next, to verify and release: " + a.releaseCommand(s, target)
	case migrate.StepReleaseOthers:
		if slices.ContainsFunc(s.Holds, func(h migrate.HoldStatus) bool { return h.CoversRun }) {
			return "Next, when others no longer need their holds, to verify and release: " + a.releaseCommand(s, target)
		}
		var flags []flagWords
		for _, h := range s.Holds {
			switch {
			case !onQueue(h):
				flags = append(flags, newFlag("collection", listWord(znode.Name(h.Path))))
			case h.By == "others" || len(flags) > 0:
				flags = append(flags, newFlag("only", znode.Name(h.Path)))
			}
		}
		return "Next, when others no longer need their holds: " + a.command("release", []string{target.text}, flags...)
	case migrate.StepPlan, migrate.StepPlanAgain:
		again := a.command("plan", []string{"SOURCE", target.text})
		if newest.Source != "" {
			again = a.command("plan", []string{newest.Source, target.text}, runSettings(newest.Dialect, newest.Policies, newest.ACL)...)
		}
		if s.NoQueue != nil {
			return "If nothing was migrated yet, or everything was rolled back, that is normal, and the next step is " + again
		}
		return "Next: " + again
	}
	if newest.Run == "" {
		return ""
	}
	return "To see what workers have done since: " + a.command("verify", []string{newest.Source, target.text}, undecodableKept(newest.Policies, target)...)
}

func (a *app) releaseCommand(s *migrate.Status, target endpoint) string {
	newest, _ := s.Newest()
	flags := append(undecodableKept(newest.Policies, target), runsOwn(s.Holds)...)
	return a.command("release", []string{target.text, newest.Source}, flags...)
}

// onQueue reports whether a hold is on a queue, and not on a collection. release lifts a
// hold on a collection only if it is named.
func onQueue(h migrate.HoldStatus) bool { return znode.Parent(h.Path) == newqueue.QueueLocksPath }

// runsOwn are the flags that choose the holds of runs, so that a person's hold stays.
// If people hold no queue, no flag is needed.
func runsOwn(holds []migrate.HoldStatus) (flags []flagWords) {
	others := false
	for _, h := range holds {
		if migrate.IsRun(h.By) {
			flags = append(flags, newFlag("only", znode.Name(h.Path)))
		} else if onQueue(h) {
			others = true
		}
	}
	if !others {
		return nil
	}
	return flags
}

// undecodableKept names the quarantine file of a run that may have put records in
// quarantine.
func undecodableKept(p migrate.Policies, target endpoint) []flagWords {
	if p.Undecodable != migrate.Quarantine {
		return nil
	}
	return []flagWords{quarantineFlag("", target)}
}
