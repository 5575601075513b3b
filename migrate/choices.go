package migrate

import (
	"context"

	"mrtq/legacy"
)

// Choices are the operator's choices that a verification needs. The target's znodes
// don't show them, so they are those of the newest run, unless the caller gives others.
type Choices struct {
	// Reads says how the source is read.
	Reads legacy.Options
	// Policies are those of [VerifyOptions]. Nil means: as each record was migrated.
	Policies *Policies
}

// ReadChoices reads the choices for verifying a target. own has the policies that the
// caller chooses, by name. time is the unit of times that the caller chooses, "" for
// none. Everything else is as in the target's newest run.
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
