package migrate

import (
	"context"

	"mrtq/legacy"
)

// Choices are what an operator chose of what a target's records don't tell: what the
// newest run says of them, unless somebody says otherwise.
type Choices struct {
	// Reads says how the source is read.
	Reads legacy.Options
	// Policies are for [VerifyOptions]: nil, as each record was migrated.
	Policies *Policies
}

// ReadChoices says under which choices a target is verified. own are the policies
// that the caller chooses, by name, and time the unit, "" for none; the rest is as
// the newest run of the target has it.
func ReadChoices(ctx context.Context, target Side, own map[string]string, time string) (Choices, error) {
	run, ran, err := ReadNewestRun(ctx, target)
	if err != nil {
		return Choices{}, err
	}
	policies := DefaultPolicies()
	if ran {
		policies = run.Policies
		if time == "" {
			time = run.Time
		}
	}
	if time == "" {
		time = legacy.TimeAuto.String()
	}
	var c Choices
	if c.Reads.Time, err = legacy.ParseTimePolicy(time); err != nil {
		return Choices{}, err
	}
	if len(own) == 0 {
		return c, nil
	}
	for _, choice := range PolicyChoices {
		if value, given := own[choice.Name]; given {
			*choice.Value(&policies) = value
		}
	}
	c.Policies = &policies
	return c, policies.Validate()
}
