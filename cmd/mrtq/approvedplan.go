package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"mrtq/internal/openfile"
	"mrtq/migrate"
)

// readApproved reads the saved plan that --plan names.
func readApproved(path string) (*migrate.Approved, error) {
	f, err := openfile.Read(path)
	if err != nil {
		return nil, cmp.Or(noFile("--plan "+path, path, err, makePlan), fmt.Errorf("--plan: %w", err))
	}
	defer f.Close()
	approved, err := migrate.ReadApproved(f)
	switch {
	case errors.Is(err, syscall.EISDIR):
		return nil, noFile("--plan "+path, path, err, makePlan)
	case errors.Is(err, openfile.ErrNobodyWrites):
		return nil, fmt.Errorf("--plan %s: %w", path, openfile.ErrNobodyWrites)
	case err != nil:
		return nil, usageError("--plan %s: %w; make a new one with mrtq plan --out", path, err)
	}
	return &approved, nil
}

// adopt takes all settings from a saved plan. A flag that was also given must have
// the same value. Only --packet may differ, because a run that failed with one
// packet size is finished with another.
func (p *planFlags) adopt(file string, a *migrate.Approved) error {
	queues, reads, err := a.Reads()
	if err != nil {
		return usageError("--plan %s: %w", file, err)
	}
	opt := a.Options()
	own, err := p.options(opt.Source, opt.Target)
	if err != nil {
		return err
	}
	ownQueues, ownReads, err := p.reads()
	if err != nil {
		return err
	}
	changes := a.Changes(own, ownQueues, ownReads)
	if !p.given("packet") {
		own.Packet = opt.Packet
	}
	opt.Packet, opt.Next = own.Packet, nextStep
	changes = slices.DeleteFunc(changes, func(c migrate.Change) bool { return c.Setting == "packet" || !p.given(flagOf(c.Setting)) })
	if len(changes) > 0 {
		return usageError("%s; leave out these flags, or make another plan with mrtq plan --out; nothing was read or written", differingFlags(file, changes))
	}
	p.approved, p.made = a, opt
	p.legacyFlags.adopt(queues, reads)
	return nil
}

// flagOf is the flag that sets a setting of a plan.
func flagOf(setting string) string {
	for _, q := range queueFlags {
		if string(q.kind) == setting {
			return q.flag
		}
	}
	return setting
}

// differingFlags lists the given flags that differ from the plan.
func differingFlags(file string, changes []migrate.Change) string {
	var said []string
	for _, c := range changes {
		was := "no --" + flagOf(c.Setting)
		if c.Was != "" {
			was = "--" + flagOf(c.Setting) + " " + c.Was
		}
		said = append(said, fmt.Sprintf("--%s %s was given, and %s was made with %s", flagOf(c.Setting), c.Is, file, was))
	}
	return strings.Join(said, "; ")
}

// planSides are the sides of a saved plan. If SOURCE and TARGET were given, they
// must be the same ones.
func planSides(file string, a *migrate.Approved, args []string) (sides, error) {
	own, err := parseSides([]string{a.Source.Name, a.Target.Name})
	if err != nil {
		return own, usageError("--plan %s was not saved by mrtq plan: %w", file, err)
	}
	if len(args) == 0 {
		return own, nil
	}
	given, err := parseSides(args)
	if err != nil {
		return own, err
	}
	for _, side := range []struct {
		what       string
		own, given endpoint
	}{{"SOURCE", own.source, given.source}, {"TARGET", own.target, given.target}} {
		if !side.given.same(side.own) {
			return own, checkError(fmt.Errorf("%s is %s, and %s was made for %s; leave out SOURCE and TARGET, or make another plan with mrtq plan --out; nothing was read or written",
				side.what, side.given.text, file, side.own.text))
		}
	}
	return own, nil
}

// becameStale adds to the error of a plan that became stale while migrate waited, or while
// it carried the plan out, what to do.
func (c *migrateCmd) becameStale(a *app, s sides, err error) error {
	if errors.Is(err, migrate.ErrSourceChanged) {
		return fmt.Errorf("%w. %s", err, c.finishWithout(a, s))
	}
	return fmt.Errorf("%w; nothing was written. %s", err, c.newPlan(a, s))
}

// staleError adds to the error of a refused plan what to do about it.
func (c *migrateCmd) staleError(a *app, s sides, err error) error {
	next := c.newPlan(a, s)
	var stale *migrate.StaleError
	var used *migrate.PlanUsedError
	switch {
	case errors.As(err, &used) && used.State == migrate.RunDone:
		next = "Next, to look at that run: " + a.command("status", []string{s.target.text})
	case errors.As(err, &stale) && stale.Reason == migrate.SourceChanged && stale.Run != "":
		next = c.finishWithout(a, s)
	case stale != nil && stale.Reason == migrate.OtherSettings:
		next = "Leave the flags out. " + next
	}
	return checkError(fmt.Errorf("migrate: %s: %w; nothing was written. %s", c.plan, err, next))
}

// newPlan is the command that makes a saved plan anew, with its settings.
func (c *migrateCmd) newPlan(a *app, s sides) string {
	return "Next, for a new plan: " + a.command("plan", s.args(), append(c.savedSettings(), newFlag("out", c.plan))...)
}

// finishWithout is the command that finishes a run whose plan doesn't fit any more.
func (c *migrateCmd) finishWithout(a *app, s sides) string {
	return "Next, to finish the run without this plan, with what changed: " + a.command("migrate", s.args(), c.savedSettings()...)
}
