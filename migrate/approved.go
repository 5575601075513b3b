package migrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Approved is a plan that was saved, looked at and is now to be carried out.
type Approved struct {
	ID       string
	Source   Pin
	Target   Pin
	Dialect  string
	Policies Policies
	Settings Settings
}

// ErrPlanFile says that a file is no plan, or not the one that was saved.
var ErrPlanFile = errors.New("this is not a plan as mrtq plan --out wrote it")

// ReadApproved reads a saved plan: the JSON of a [Plan] and nothing after it. Its
// id is computed again from all that it says, so a plan of which anything was
// edited, cut off or added is refused. Errors wrap [ErrPlanFile].
func ReadApproved(r io.Reader) (Approved, error) {
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	var p Plan
	if err := dec.Decode(&p); err != nil {
		return Approved{}, fmt.Errorf("%w: %w", ErrPlanFile, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Approved{}, fmt.Errorf("%w: something follows the plan at byte %d", ErrPlanFile, dec.InputOffset())
	}
	if id := p.digest(); p.ID != id {
		return Approved{}, fmt.Errorf("%w: its content was changed since (its id is %.12s…, its content's %.12s…); make a new one with mrtq plan", ErrPlanFile, p.ID, id)
	}
	return Approved{ID: p.ID, Source: p.Source, Target: p.Target, Dialect: string(p.Dialect), Policies: p.Policies, Settings: p.Settings}, nil
}

// CheckApproved compares a plan just made with the one that was approved. It
// is nil if they are the same, or if the approved one was begun and this is
// what is left of it. Errors wrap [ErrPlanUsed] or [ErrStale].
func (p *Plan) CheckApproved(a Approved) error {
	if a.Target.Name != p.Target.Name {
		return fmt.Errorf("%w: it was made for %s, and this is %s; make one for this target with mrtq plan", ErrStale, a.Target.Name, p.Target.Name)
	}
	for _, r := range p.ex.runs {
		if r.Plan != a.ID {
			continue
		}
		if r.State != RunRunning {
			return fmt.Errorf("%w, as %s; make a new one with mrtq plan", ErrPlanUsed, r.ID)
		}
		if p.Source.Hash != a.Source.Hash {
			return fmt.Errorf("%w: %s was begun with it, and the source has changed since; finish with mrtq migrate without --plan, which adds what changed", ErrStale, r.ID)
		}
		if !p.Settings.same(a.Settings) {
			return a.otherOptions()
		}
		return nil
	}
	switch {
	case p.ID == a.ID:
		return nil
	case p.Source.Hash != a.Source.Hash:
		return fmt.Errorf("%w: the source has changed since it was made (zxid %d then, %d now); make a new one with mrtq plan", ErrStale, a.Source.Zxid, p.Source.Zxid)
	case p.Target.Hash != a.Target.Hash:
		return fmt.Errorf("%w: the target has changed since it was made (zxid %d then, %d now); make a new one with mrtq plan", ErrStale, a.Target.Zxid, p.Target.Zxid)
	}
	return a.otherOptions()
}

func (a Approved) otherOptions() error {
	return fmt.Errorf("%w: it was made under other options (%s); give the same, or make a new one with mrtq plan", ErrStale, strings.Join(a.flags(), " "))
}

// same reports whether two settings make the same of the same two trees. The
// packet size may be another: a run that was thwarted by it is finished so.
func (s Settings) same(o Settings) bool {
	return s.Time == o.Time && slices.Equal(s.Queues, o.Queues) && slices.Equal(s.ACL, o.ACL) && slices.Equal(s.Again, o.Again) && slices.Equal(s.Done, o.Done)
}

// flags are the options that the plan was made under, as mrtq migrate takes them.
func (a Approved) flags() []string {
	flags := []string{"--dialect " + a.Dialect}
	if f := a.Policies.Flags(); f != "" {
		flags = append(flags, f)
	}
	for _, path := range a.Settings.Again {
		flags = append(flags, "--again "+path)
	}
	for _, path := range a.Settings.Done {
		flags = append(flags, "--done "+path)
	}
	if len(a.Settings.ACL) > 0 {
		flags = append(flags, "and an --acl")
	}
	return append(flags, "--time "+a.Settings.Time)
}
