package life_test

import (
	"flag"
	"slices"
	"testing"

	"mrtq/migrate"
	"mrtq/newqueue"
)

var torture = flag.Bool("torture", false, "try all cuts, and the servers of an ensemble that fail")

// usual is an act of an operator without special wishes: one job in each transaction.
func usual(kind string) step { return step{act: act{kind: kind, a: 2}} }

// by is an act of others, with its numbers.
func by(kind string, numbers ...int) step {
	n := append(numbers, 0, 0, 0)
	return step{act: act{kind: kind, who: n[0], a: n[1], b: n[2]}}
}

// nights are commands that are cut, each with what comes before.
var nights = []struct {
	name    string
	choices migrate.Choices // record by record where they block
	before  []step
	cut     step
}{
	{"migrate", permissive, nil, usual("migrate")},
	{"migrate, record by record", migrate.DefaultChoices(), nil, usual("migrate")},
	{"migrate late records", permissive, []step{usual("migrate"), usual("release"), by("the workers"), by("a depositor"), by("a depositor", 7)},
		usual("migrate")},
	{"release", permissive, []step{usual("migrate"), by("a person holds a queue")}, usual("release")},
	{"rollback", permissive, []step{usual("migrate"), by("an administrator", 1)}, usual("rollback")},
	{"rollback after the release", permissive, []step{usual("migrate"), usual("release"), by("the workers", 0, 1)}, usual("rollback")},
	{"retire", permissive, []step{usual("migrate"), usual("release"), by("the workers", 0, 1)}, usual("retire")},
	{"retire after a rollback", permissive, []step{usual("migrate"), usual("release"), by("the workers", 0, 1), usual("rollback")}, usual("retire")},
}

// meanwhile is what others do between a cut and the repetition of the command.
var meanwhile = [][]step{
	nil,
	{by("the workers"), by("the cleanup"), by("a depositor", 1), by("a depositor", 2, 7), by("an administrator", 3)},
}

// Each command is cut at each of its changes: its connection is lost there, or its process
// is killed. The same command is repeated, and in the end everything runs once.
func TestCuts(t *testing.T) {
	var records []act
	for i := range 8 {
		records = append(records, act{who: i, a: i, b: i})
	}
	for _, d := range newqueue.Dialects {
		cuts, number := 0, 0
		for _, night := range nights {
			for _, kind := range troubles[1:5] {
				for _, then := range meanwhile {
					for nth, struck := 1, true; struck; nth++ {
						if number++; !*torture && number%16 != 0 {
							struck = nth < 12 // a sample
							continue
						}
						cut := night.cut
						cut.trouble = trouble{kind: kind, nth: nth}
						l := life{dialect: d, choices: night.choices, records: records,
							steps: slices.Concat(night.before, []step{cut}, then, []step{night.cut})}
						m, failed := l.live(t)
						if failed != "" {
							for _, line := range m.story {
								t.Log(line)
							}
							t.Fatalf("%s, %s at %d: %s", night.name, kind, nth, failed)
						}
						if struck = m.cuts > 0; struck {
							cuts++
						}
					}
				}
			}
		}
		t.Logf("%s: %d cuts", d, cuts)
	}
}

// permissive are choices that block nothing.
var permissive = migrate.Choices{Consumed: "pending", Failed: "failed", Undecodable: "quarantine", Completed: "migrate", Deleted: "skip",
	InventoryRecords: "migrate", Unserviceable: "migrate"}
