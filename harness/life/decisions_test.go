package life_test

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"

	"mrtq/migrate"
)

// decisions are what an operator gives a migration: no decisions file, the last one as it is,
// or one in which all is decided that the plan asks for.
func (m *migration) decisions(opt migrate.Options, a act) []migrate.Decision {
	switch a.who / 4 % 4 {
	case 1:
		return nil
	case 2:
		return m.file
	}
	more := a.who/16%2 == 1
	for round := range 5 { // once its records are decided, the plan may ask for a batch
		opt.Decisions = m.file
		p := value(migrate.MakePlan(m.ctx, value(m.legacyQueue(m.ctx, m.source)), &m.source.Reader, opt))
		if !asks(p) && !more {
			return m.file
		}
		for _, problem := range p.Problems {
			m.say("    %s", problem)
		}
		m.fillIn(p, a.b+round, more)
		more = false
	}
	m.failf("everything is decided, and the plan asks again", "%v", m.file)
	return nil
}

// asks reports whether a plan is blocked because of what is decided, or is not.
func asks(p *migrate.Plan) bool {
	return len(p.Undecided) > 0 || slices.ContainsFunc(p.Problems, func(p migrate.Problem) bool {
		return p.Kind == "bad-decision" || p.Kind == migrate.OtherChoices
	})
}

// unasked are the choices about records for which no plan asks, by their status.
var unasked = map[string]string{"failed": "held or pending or failed", "completed": "migrate or skip", "deleted": "migrate or skip"}

// fillIn fills in the decisions file that a plan writes. With more, the operator also decides
// about records for which the plan doesn't ask.
func (m *migration) fillIn(p *migrate.Plan, n int, more bool) {
	var written, filled bytes.Buffer
	must(p.WriteDecisions(&written))
	lines := value(csv.NewReader(&written).ReadAll())
	for _, r := range p.Records {
		known := slices.ContainsFunc(lines, func(line []string) bool { return line[0] == r.Path })
		if choices := unasked[r.Status]; more && choices != "" && !known && r.Job == "" {
			lines = append(lines, []string{r.Path, "", r.Status, choices, r.Hash.String()})
		}
	}
	for i, line := range lines[1:] {
		if line[1] == "" {
			line[1] = pick(strings.Split(line[3], " or "), n+i)
			m.decided[line[1]]++
			m.say("  the operator decides about %s (%s): %s", line[0], line[2], line[1])
		}
	}
	must(csv.NewWriter(&filled).WriteAll(lines))
	m.file = value(migrate.ReadDecisions(&filled))
}

// checkDecided fails if a plan does something else than what was decided about a record, or
// takes a decision about a record as it was before.
func (m *migration) checkDecided(p *migrate.Plan, decisions []migrate.Decision) {
	for _, d := range decisions {
		i := slices.IndexFunc(p.Records, func(r migrate.PlanRecord) bool { return r.Path == d.Record })
		if i < 0 || p.Records[i].Job != "" || p.Blocked() {
			continue
		}
		r := p.Records[i]
		// Docs/migration.md says so. Only ingest jobs can be held, and an unfinished run leaves
		// late records of its finished batches to the next one.
		late := r.Action == "skip" && strings.HasPrefix(r.Reason, "late")
		does := map[string][]string{
			"held":       {"create held", "create failed"},
			"pending":    {"create pending", "create recording"},
			"failed":     {"create failed"},
			"skip":       {"skip "},
			"quarantine": {"quarantine "},
			"migrate":    {"create pending", "create held", "create recording", "create failed", "create completed", "create deleted"},
		}[d.Choice]
		if does := slices.Contains(does, string(r.Action)+" "+r.State); !late && (!does || d.Hash != r.Hash.String()) {
			m.failf("something else was done than what was decided", "%+v: %+v", d, r)
		}
		if !late && !isNamed(p, d) {
			m.failf("what was decided could lose a record or run it twice, and nobody said so", "%+v", d)
		}
	}
}

// isNamed reports whether a plan names a record among those that could run twice, or never, if
// it was decided so.
func isNamed(p *migrate.Plan, d migrate.Decision) bool {
	return slices.Contains([]string{"skip", "quarantine", "migrate"}, d.Choice) ||
		slices.ContainsFunc(p.Risks, func(r migrate.Risk) bool {
			return r.Chosen && slices.Contains(map[bool][]string{true: r.Twice, false: r.Never}[d.Choice == "pending"], d.Record)
		})
}
