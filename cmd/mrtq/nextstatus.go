package main

import (
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// standing says where a migration stands, in a clause.
func standing(s *migrate.Status, target endpoint) string {
	newest, _ := s.Newest()
	switch s.Step {
	case migrate.StepWait:
		return "a migrator is at work now, and these numbers change while they are read; one that was killed counts until its session ends"
	case migrate.StepRebuild:
		return "the migration's own records are damaged"
	case migrate.StepFinish, migrate.StepFinishRollback:
		what := newest.Run
		if s.Step == migrate.StepFinishRollback {
			what = "the rollback of " + newest.Run
		}
		if target.file != "" { // it may have been dumped while a migrator was at work
			return fmt.Sprintf("%v: %s is unfinished", errUnfinished, what)
		}
		return fmt.Sprintf("%v: nobody is working on %s", errUnfinished, what)
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

// stateShown is a run's state for people. The record of a run that was interrupted says
// that it is running.
func stateShown(s *migrate.Status, r migrate.RunStatus) string {
	if r.State == migrate.RunRunning && s.AtWork == 0 {
		return "unfinished"
	}
	return string(r.State)
}

// heldByRuns reports whether runs hold all queues, and nobody else holds anything.
func heldByRuns(s *migrate.Status) bool {
	return len(s.Holds) == len(newqueue.QueueHolds) && !slices.ContainsFunc(s.Holds, func(h migrate.HoldStatus) bool { return !migrate.IsRun(h.By) })
}

// heldAndReleased says who holds what, "" if nothing is held.
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

// nextOf is what to do now, with the command for it; "" for nothing.
func (a *app) nextOf(s *migrate.Status, target endpoint) string {
	newest, _ := s.Newest()
	switch s.Step {
	case migrate.StepWait:
		return "Next: wait until it ends, then look again. Its progress: " + a.command("watch", target.text)
	case migrate.StepRebuild:
		return "Next: " + a.command("rebuild", target.text)
	case migrate.StepFinish:
		words := runWords(newest.Source, target, newest.Dialect, newest.Policies)
		return fmt.Sprintf("Next: run the same mrtq migrate again, with its flags, to finish %s: %s", newest.Run, a.command("migrate", words...))
	case migrate.StepFinishRollback:
		return "Next, to finish it: " + a.command("rollback", target.text, "--run", newest.Run)
	case migrate.StepRelease:
		return "Next, to verify and release: " + a.releaseCommand(s, target)
	case migrate.StepReleaseOthers:
		if slices.ContainsFunc(s.Holds, func(h migrate.HoldStatus) bool { return h.CoversRun }) {
			return "Next, when that is over, to verify and release: " + a.releaseCommand(s, target)
		}
		words := []string{target.text}
		for _, h := range s.Holds {
			switch {
			case !onQueue(h):
				words = append(words, "--collection", znode.Name(h.Path))
			case h.By == "others" || len(words) > 1:
				words = append(words, "--only", znode.Name(h.Path))
			}
		}
		return "Next, when that is over: " + a.command("release", words...)
	case migrate.StepPlan, migrate.StepPlanAgain:
		words := []string{"SOURCE", target.text}
		if newest.Source != "" {
			words = runWords(newest.Source, target, newest.Dialect, newest.Policies)
		}
		if s.NoQueue != nil {
			return "If nothing was migrated yet, or all was rolled back, that is right, and the next step is " + a.command("plan", words...)
		}
		return "Next: " + a.command("plan", words...)
	}
	if newest.Run == "" {
		return ""
	}
	return "What workers did since: " + a.command("verify", a.verifyWords(newest.Source, target, newest.Policies)...)
}

func (a *app) releaseCommand(s *migrate.Status, target endpoint) string {
	newest, _ := s.Newest()
	words := a.verifyWords(newest.Source, target, newest.Policies)
	words[0], words[1] = words[1], words[0]
	return a.command("release", append(words, runsOwn(s.Holds)...)...)
}

// onQueue reports whether a hold is on a queue. One on a collection is not lifted
// unless it is named.
func onQueue(h migrate.HoldStatus) bool { return znode.Parent(h.Path) == newqueue.QueueLocksPath }

// runsOwn are the flags that choose the holds of runs, if there are others' besides:
// nobody is to lift those unasked. All is chosen if there are none of runs.
func runsOwn(holds []migrate.HoldStatus) (words []string) {
	others := false
	for _, h := range holds {
		if migrate.IsRun(h.By) {
			words = append(words, "--only", znode.Name(h.Path))
		} else if onQueue(h) {
			others = true
		}
	}
	if !others {
		return nil
	}
	return words
}

// verifyWords are the arguments of verify. Of a run that may have quarantined
// records, the file with their bytes is one.
func (a *app) verifyWords(source string, target endpoint, p migrate.Policies) []string {
	words := []string{source, target.text}
	if p.Undecodable == migrate.Quarantine {
		words = append(words, quarantineWords("", target)...)
	}
	return words
}
