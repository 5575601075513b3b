package main

import (
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// nextAfterVerify says what to do after a verification. It is "" if the verdict says so.
func (a *app) nextAfterVerify(v *migrate.Verdict, s sides, quarantine string) string {
	file := quarantineFlag(quarantine, s.target)
	only := func(kinds ...migrate.DifferenceKind) bool {
		return !slices.ContainsFunc(v.Differences, func(d migrate.Difference) bool { return !slices.Contains(kinds, d.Kind) })
	}
	switch {
	case noRunHere(v), v.State == migrate.RunRunning, v.State == migrate.RunRollingBack:
		return ""
	case v.OK() && len(v.Released) == len(newqueue.QueueHolds), v.OK() && v.State != migrate.RunDone:
		return ""
	case v.OK():
		flags := runsOwn(v.Holds)
		if v.Records.Quarantined > 0 || quarantine != "" {
			flags = append(flags, file)
		}
		release := a.command("release", []string{s.target.text, s.source.text}, flags...)
		if others := othersOf(v.Holds); others != "" {
			return fmt.Sprintf("But others hold queues: %s. Ask them, then: %s", others, release)
		}
		return "Next: " + release
	case slices.ContainsFunc(v.Differences, func(d migrate.Difference) bool { return d.Kind == migrate.Damaged }):
		return "Next, for the migration's own records: " + a.command("rebuild", []string{s.target.text})
	case only(migrate.NotMigrated, migrate.RecordChanged):
		return "Next, for the records that came or changed since: " + a.command("plan", s.args(), policiesGiven(v.Policies)...)
	case only(migrate.NotKept):
		return fmt.Sprintf("If that file is lost, run the same mrtq migrate again with --quarantine %s: it adds what the file lacks", shellWord(file.words[1]))
	case only(migrate.Undecided):
		return "Next, to decide what becomes of these records: " + a.command("plan", s.args(), policiesGiven(v.Policies)...)
	}
	text := "Next: find out"
	if len(v.Released) == 0 {
		text = "Next: don't release it. Find out"
	}
	return text + fmt.Sprintf(" who changed what is listed (%s shows one), mend it and verify again; or roll the run back: %s",
		a.command("show", append(s.args(), "ITEM")), a.command("rollback", []string{s.target.text}, newFlag("run", v.Run)))
}

// othersOf names the holds on queues that no run set, and who set them. It is "" if there
// are none.
func othersOf(holds []migrate.HoldStatus) string {
	var said []string
	for _, h := range holds {
		if onQueue(h) && !migrate.IsRun(h.By) {
			said = append(said, znode.Name(h.Path)+" by "+heldBy(h))
		}
	}
	return strings.Join(said, ", ")
}
