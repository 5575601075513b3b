package migrate

import (
	"fmt"
	"slices"

	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// StaleError says why a saved plan can't be carried out any more. It is an
// [ErrStale].
type StaleError struct {
	Reason StaleReason
	// Run is the run that began with the plan, "" if none did.
	Run string
	// Then is the side that the plan was made for, Now the one that it was to be
	// carried out on. Their Zxids are the newest transactions of that side.
	Then, Now Pin
	// Changes are the settings that differ.
	Changes []Change
}

// StaleReason is what changed since a plan was saved.
type StaleReason string

// The reasons.
const (
	OtherSource   StaleReason = "other-source"
	OtherTarget   StaleReason = "other-target"
	SourceChanged StaleReason = "source-changed"
	TargetChanged StaleReason = "target-changed"
	OtherSettings StaleReason = "other-settings"
	OtherPlan     StaleReason = "other-plan" // none of these changed, but another version of mrtq made it
)

// Error says which side or setting changed, and how.
func (e *StaleError) Error() string { return ErrStale.Error() + ": " + e.what() }

func (e *StaleError) what() string {
	switch e.Reason {
	case OtherSource, OtherTarget:
		return fmt.Sprintf("it was made for %s, and this is %s", e.Then.Name, e.Now.Name)
	case SourceChanged, TargetChanged:
		side := "source"
		if e.Reason == TargetChanged {
			side = "target"
		}
		if e.Run != "" {
			return fmt.Sprintf("%s was begun with it, and the %s has changed since", e.Run, side)
		}
		return fmt.Sprintf("the %s has changed since it was made (zxid %d then, %d now)", side, e.Then.Zxid, e.Now.Zxid)
	case OtherSettings:
		return "it was made under other settings: " + ChangesText(e.Changes)
	}
	return "the same sides and settings give another plan: another version of mrtq made it"
}

// Is makes it an [ErrStale].
func (e *StaleError) Is(target error) bool { return target == ErrStale }

// PlanUsedError says which run carried the plan out. It is an [ErrPlanUsed].
type PlanUsedError struct {
	Run   string
	State RunState // of the run
}

// Error names the run.
func (e *PlanUsedError) Error() string { return fmt.Sprintf("%v, as %s", ErrPlanUsed, e.Run) }

// Is makes it an [ErrPlanUsed].
func (e *PlanUsedError) Is(target error) bool { return target == ErrPlanUsed }

// Options returns the options that the plan was made with. With them, the same sides give
// the same plan.
func (a Approved) Options() Options {
	var acl []znode.ACL // nil is open
	if len(a.Settings.ACL) > 0 {
		acl = a.Settings.ACL
	}
	return Options{
		Dialect: a.dialect(), Policies: a.Policies, ACL: acl, Packet: a.Settings.Packet, Again: a.Settings.Again, Done: a.Settings.Done,
		Source: a.Source.Name, Target: a.Target.Name,
	}
}

// dialect is the plan's, or "" if nobody had chosen one.
func (a Approved) dialect() newqueue.Dialect {
	if a.DialectAssumed {
		return ""
	}
	return a.Dialect
}

// Reads returns which queues of the source the plan read, and how it decoded the records.
// The error says that the plan names an unknown unit of time.
func (a Approved) Reads() (Queues, legacy.Options, error) {
	time, err := legacy.ParseTimePolicy(a.Settings.Time)
	return a.Settings.Queues, legacy.Options{Time: time}, err
}

// CheckApproved compares a plan that was just made with the one that was approved. It
// returns nil if they are the same, or if a run began with the approved one and this
// is the rest of it. The error is a [*PlanUsedError] or a [*StaleError].
func (p *Plan) CheckApproved(a Approved) error {
	switch {
	case a.Target.Name != p.Target.Name:
		return &StaleError{Reason: OtherTarget, Then: a.Target, Now: p.Target}
	case a.Source.Name != p.Source.Name:
		return &StaleError{Reason: OtherSource, Then: a.Source, Now: p.Source}
	}
	changes := a.changesTo(p)
	for _, r := range p.ex.runs {
		if r.Plan != a.ID {
			continue
		}
		// A run that failed because of the packet size is finished with another size.
		changes = slices.DeleteFunc(changes, func(c Change) bool { return c.Setting == "packet" })
		switch {
		case r.State != RunRunning:
			return &PlanUsedError{r.ID, r.State}
		case p.Source.Hash != a.Source.Hash:
			return &StaleError{Reason: SourceChanged, Run: r.ID, Then: a.Source, Now: p.Source}
		case len(changes) > 0:
			return &StaleError{Reason: OtherSettings, Run: r.ID, Changes: changes}
		}
		return nil
	}
	switch {
	case p.ID == a.ID:
		return nil
	case len(changes) > 0:
		return &StaleError{Reason: OtherSettings, Changes: changes}
	case p.Source.Hash != a.Source.Hash:
		return &StaleError{Reason: SourceChanged, Then: a.Source, Now: p.Source}
	case p.Target.Hash != a.Target.Hash:
		return &StaleError{Reason: TargetChanged, Then: a.Target, Now: p.Target}
	}
	return &StaleError{Reason: OtherPlan}
}

func (a Approved) changesTo(p *Plan) []Change {
	var c changes
	c.add("dialect", string(a.Dialect), string(p.Dialect))
	c.policies(a.Policies, p.Policies)
	c.settings(a.Settings, p.Settings)
	return c
}

// Changes returns the choices and settings that differ: Was is the plan's, Is is that of
// o, queues and opt.
func (a Approved) Changes(o Options, queues Queues, opt legacy.Options) []Change {
	if a.DialectAssumed && o.Dialect != "" {
		return []Change{{"dialect", "", string(o.Dialect)}}
	}
	return a.changesTo(&Plan{Dialect: o.Dialect, Policies: o.Policies, Settings: o.settings(queues, opt)})
}
