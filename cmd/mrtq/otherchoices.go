package main

import (
	"fmt"
	"strings"

	"mrtq/migrate"
)

// otherChoices are choices in verify's flags that differ from the run's. The comparison
// then finds differences that are no damage.
type otherChoices struct {
	run          string
	made, chosen []string // as flags: the run's, and the given ones
}

// differingChoices compares the given policies and unit of times with a run's.
func differingChoices(run migrate.Run, policies map[string]string, time string) *otherChoices {
	o := &otherChoices{run: run.ID}
	add := func(flag, made, chosen string) {
		if made != "" && chosen != "" && made != chosen {
			o.made = append(o.made, "--"+flag+" "+made)
			o.chosen = append(o.chosen, "--"+flag+" "+chosen)
		}
	}
	for _, c := range migrate.PolicyChoices {
		add(c.Name, *c.Value(&run.Policies), policies[c.Name])
	}
	add("time", run.Time, time)
	if o.made == nil {
		return nil
	}
	return o
}

func (o *otherChoices) String() string {
	is := "is"
	if len(o.chosen) > 1 {
		is = "are"
	}
	return fmt.Sprintf("%s was made with %s, and %s %s given", o.run, strings.Join(o.made, " and "), strings.Join(o.chosen, " and "), is)
}

// one returns single if there is one choice, and several if there are more.
func (o *otherChoices) one(single, several string) string {
	if len(o.chosen) > 1 {
		return several
	}
	return single
}

// concludeOtherChoices is the verdict if the target differs and some choices are not the
// run's.
func (a *app) concludeOtherChoices(c *verifyCmd, s sides) {
	var flags []flagWords
	if c.quarantine != "" {
		flags = append(flags, newFlag("quarantine", c.quarantine))
	}
	a.conclude(bad, "Verify: %s, which may be no damage, because %s. Next, without %s: %s", count(len(c.verdict.Differences), "difference", "differences"), c.differing,
		c.differing.one("it", "them"), a.command("verify", s.args(), flags...))
}
