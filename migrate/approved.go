package migrate

import (
	"encoding/json"
	"fmt"
	"io"
)

// Approved is a plan that was saved, looked at and is now to be carried out.
type Approved struct {
	ID       string   `json:"id"`
	Source   Pin      `json:"source"`
	Target   Pin      `json:"target"`
	Dialect  string   `json:"dialect"`
	Policies Policies `json:"policies"`
}

// ReadApproved reads a saved plan: the JSON of a [Plan].
func ReadApproved(r io.Reader) (Approved, error) {
	var a Approved
	if err := json.NewDecoder(r).Decode(&a); err != nil {
		return Approved{}, fmt.Errorf("this is no plan that mrtq plan --out wrote: %w", err)
	}
	if len(a.ID) != 64 {
		return Approved{}, fmt.Errorf("this is no plan that mrtq plan --out wrote: it has no id")
	}
	return a, nil
}

// CheckApproved compares a plan just made with the one that was approved. It
// is nil if they are the same, or if the approved one was begun and this is
// what is left of it. Errors wrap [ErrPlanUsed] or [ErrStale].
func (p *Plan) CheckApproved(a Approved) error {
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
	return fmt.Errorf("%w: it was made under other options (--dialect %s %s, or other --acl or queue flags); give the same, or make a new one with mrtq plan", ErrStale, a.Dialect, a.Policies.Flags())
}
