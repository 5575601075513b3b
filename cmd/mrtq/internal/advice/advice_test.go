package advice

import (
	"strings"
	"testing"
	"time"

	"mrtq/migrate"
	"mrtq/migrate/migration"
)

func shown(n Next) string { return strings.Join(strings.Fields(strings.Join(n.Lines(), " ")), " ") }

// TestDecide: what is advised for each question, and for several together, in whatever order they are listed.
func TestDecide(t *testing.T) {
	const taken, vanished, both = migration.QuestionTaken, migration.QuestionVanished, migration.QuestionBoth
	const mixed = "Choose: If the other target keeps the records that it has, and the work of the rest was done, or other records now have it: mrtq C T --vanished legacy If it was not done, so their jobs must run: mrtq C T --vanished new"
	const gone = "Choose: If the work of these records was done, or other records now have it: mrtq C T --vanished legacy If it was not done, so their jobs must run: mrtq C T --vanished new"
	const keeps, mistake = "Choose: If the other target keeps these records: mrtq C T --vanished legacy", " If the other one is the mistake, roll that back first, and then: mrtq C T"
	for name, c := range map[string]struct {
		asks              []migration.Question
		release, rollback string // "": as release
	}{
		"taken":              {asks: []migration.Question{taken}, release: keeps + " If this target is the mistake: mrtq rollback T --vanished legacy" + mistake, rollback: keeps + mistake},
		"vanished":           {asks: []migration.Question{vanished}, release: gone},
		"taken and vanished": {asks: []migration.Question{taken, vanished}, release: mixed},
		"vanished and taken": {asks: []migration.Question{vanished, taken}, release: mixed},
		"both and vanished":  {asks: []migration.Question{both, vanished}, release: gone},
		"both":               {asks: []migration.Question{both, both}, release: "Choose: If the job has the work of /ingest/0: mrtq C T --record-is new=/ingest/0 If the legacy queue has it: mrtq C T --record-is legacy=/ingest/0"},
	} {
		t.Run(name, func(t *testing.T) {
			at := Situation{Target: "T"}
			for i, q := range c.asks {
				at.Undecided = append(at.Undecided, migration.Note{Record: "/ingest/" + string(rune('0'+i)), Question: q})
			}
			a := Adviser{Name: "release", Args: []string{"T"}, Takes: func(string, string) bool { return true }}
			if got, want := shown(a.Next(migrate.StepDecideRecords, at)), strings.ReplaceAll(c.release, "mrtq C", "mrtq release"); got != want {
				t.Errorf("release: %s\nexpected %s", got, want)
			}
			a.Name = "rollback"
			want := c.release
			if c.rollback != "" {
				want = c.rollback
			}
			if got, want := shown(a.DecideRollback(at)), strings.ReplaceAll(want, "mrtq C", "mrtq rollback"); got != want {
				t.Errorf("rollback: %s\nexpected %s", got, want)
			}
		})
	}
}

// If two records had one name, the answer names the job.
func TestDecideAboutTwoOfOneName(t *testing.T) {
	at := Situation{Target: "T", Undecided: []migration.Note{{Record: "/ingest/0", Job: "/jobs/1", Question: migration.QuestionBoth, Namesake: true}}}
	a := Adviser{Name: "release", Args: []string{"T"}, Takes: func(string, string) bool { return true }}
	const want = "Choose: If the job has the work of /ingest/0 (its job is /jobs/1): mrtq release T --record-is new=/jobs/1 If the legacy queue has it: mrtq release T --record-is legacy=/jobs/1"
	if got := shown(a.Next(migrate.StepDecideRecords, at)); got != want {
		t.Errorf("%s\nexpected %s", got, want)
	}
}

// A completed run has no way back.
func TestRepair(t *testing.T) {
	a := Adviser{Name: "verify", Takes: func(string, string) bool { return true }}
	run := migration.Run{ID: "run0000000000", State: migration.RunDone}
	for completed, want := range map[time.Time]string{
		{}:              "Choose: If you can repair what is damaged, repair it, and then verify: mrtq verify T If not, roll back what no service has begun: mrtq rollback T",
		time.Unix(1, 0): "First: repair what is damaged. Next: mrtq verify T",
	} {
		run.Completed = completed
		if got := shown(a.Next(migrate.StepRepair, Situation{Target: "T", Run: &run})); got != want {
			t.Errorf("%s\nexpected %s", got, want)
		}
	}
}
