package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// groups are the groups of differences, the gravest first: the title of their list, and the words for one difference and
// for many.
var groups = []struct {
	is               migration.DifferenceGroup
	title, one, many string
}{
	{migration.DamageGroup, "Damage", "damaged", "damaged"},
	{migration.UndecidedGroup, "Somebody must decide which queue has the work of these records", "record to decide about", "records to decide about"},
	{migration.UnfinishedGroup, "Unfinished", "unfinished", "unfinished"},
	{migration.RestoredGroup, "Restored from a backup", "restored from a backup", "restored from a backup"},
	{migration.ActedOnGroup, "Acted on since they were migrated: a worker, a service or an administrator did this", "acted on", "acted on"},
}

// Verdict prints a verification.
func Verdict(s *screen.Screen, v *migration.Verdict) {
	r := v.Records
	rows := []screen.Row{{"migrated", r.Migrated}}
	for _, more := range []struct {
		what string
		n    int
	}{{"left out by choice", r.Skipped}, {"finished in the legacy queue", r.Finished}, {"in quarantine", r.Quarantined}, {"migrated, and the job removed", r.Removed}, {"taken by legacy workers since", r.AtLegacy}, {"to be decided", r.Undecided}, {"not migrated", r.NotMigrated}} {
		if more.n > 0 {
			rows = append(rows, screen.Row{more.what, more.n})
		}
	}
	s.Table("", []string{"RECORDS", "COUNT"}, append(rows, screen.Row{"all", r.Total}))
	acted := len(groups) - 1 // the only group that needs nobody
	for _, g := range groups[:acted] {
		differences(s, v, g.is, g.title)
	}
	var left, lacking []string
	for _, d := range v.Differences {
		for _, at := range d.Remove {
			left = append(left, "deleteall "+at)
		}
		if d.Kind == notKept {
			lacking = append(lacking, d.Path)
		}
	}
	screen.List(s, "What is left of jobs that were deleted, or whose batch was. If nobody needs it, remove it with these lines, in zkCli.sh at the same address and chroot", left, []string{"LINE"}, path)
	screen.List(s, "Not in the quarantine file: these can't be decoded, and the new queue does not hold their bytes", lacking, []string{"LEGACY RECORD"}, path)
	differences(s, v, groups[acted].is, groups[acted].title)
	note := func(i migration.Note) screen.Row { return screen.Row{i.Record, i.Job, i.Why} }
	header := []string{"LEGACY RECORD", "JOB OR REQUEST", "WHAT"}
	screen.List(s, "Migrated, and taken by a legacy worker since: a release withdraws the job", v.Legacy, header, note)
	screen.List(s, "Also", v.Notices, header, note)
	if v.State == migration.RunDone { // else that is where they should be
		screen.Brief(s, notMigrated, v.NotMigrated, header[:1], path, all)
	}
	screen.Brief(s, "Removed: finished and cleaned up, or deleted", v.Removed, header[:2], func(i migration.Note) screen.Row { return screen.Row{i.Record, i.Job} }, all)
	compared := screen.Count(v.Nodes, "znode", "znodes") + " compared"
	if v.Unrelated > 0 {
		compared += fmt.Sprintf(". The target also has %s that no run created", screen.Count(v.Unrelated, "job, request or batch", "jobs, requests and batches"))
	}
	s.Prose("", compared+".")
	if v.NotCompared > 0 {
		s.Prose("", fmt.Sprintf("Not compared with their records, because the migration was completed: %s.", screen.Count(v.NotCompared, "job or request", "jobs and requests")))
	}
	if free := released(v); len(free) > 0 && v.Due == 0 && !v.OK() { // else the last line says so
		s.Printf("Released: %s.\n", QueueNames(free))
	}
}

func differences(s *screen.Screen, v *migration.Verdict, is migration.DifferenceGroup, title string) {
	of := slices.DeleteFunc(slices.Clone(v.Differences), func(d migration.Difference) bool { return d.Kind.Group() != is || d.Kind == notKept })
	header := []string{"RECORD OR ZNODE", "DIFFERENCE", "WHAT"}
	if is == migration.DamageGroup {
		header = append(header, "WHO CAN CAUSE IT")
	}
	screen.List(s, title, of, header, func(d migration.Difference) screen.Row {
		return screen.Row{d.Path, string(d.Kind), d.Message, cmp.Or(d.By, "nobody who follows the documents")}[:len(header)]
	})
}

func released(v *migration.Verdict) []newqueue.QueueHold {
	return slices.DeleteFunc(slices.Clone(v.Released), func(q newqueue.QueueHold) bool {
		return slices.ContainsFunc(v.Holds, func(h migration.Hold) bool { return h.Queue == q && h.OfRun() })
	})
}

// notKept is the kind of a difference that is not in the target: the quarantine file lacks the bytes
// of a record.
const notKept = "not-kept"

// QueueNames lists the names of queues.
func QueueNames(queues []newqueue.QueueHold) string {
	var names []string
	for _, q := range queues {
		names = append(names, string(q))
	}
	return strings.Join(names, ", ")
}

// VerdictText says how a verification ended, in a word and in a clause.
func VerdictText(v *migration.Verdict, target string) (tone screen.Tone, word, text string) {
	var parts []string
	for _, g := range groups {
		if n := v.CountGroup(g.is); n > 0 {
			parts = append(parts, screen.Count(n, g.one, g.many))
		}
	}
	notes := counted([]note{
		{len(v.NotMigrated), "record is not migrated", "records are not migrated"},
		{len(v.Legacy), "record was taken by a legacy worker", "records were taken by legacy workers"},
	})
	if v.Releasing {
		notes = slices.Insert(notes, 0, releasingText(v.Due))
	}
	if v.Uncompleted > 0 {
		notes = slices.Insert(notes, 0, completingText(v.Uncompleted))
	}
	also := sentences(notes)
	switch {
	case !v.OK() && v.Count(notKept) == len(v.Differences):
		return screen.Bad, "failed", fmt.Sprintf("the target matches the source, but the quarantine file lacks the bytes of %s%s", screen.Count(len(v.Differences), "record", "records"), also)
	case v.Run == "":
		return screen.Bad, "failed", fmt.Sprintf("no migration is recorded in %s. Check this address and its chroot, or migrate first", advice.Word(target))
	case v.CountGroup(migration.UnfinishedGroup) == len(v.Differences) && !v.OK():
		return screen.Bad, "failed", unfinishedText(&v.Current, "")
	case !v.OK():
		return screen.Bad, "failed", fmt.Sprintf("the target does not match the source: %s%s", strings.Join(parts, ", "), also)
	case v.State == migration.RunRolledBack:
		return screen.Good, "passed", fmt.Sprintf("%s was rolled back, and every record that it still has is accounted for%s", v.Run, also)
	case len(v.Released) == 0:
		text = "the target matches the source"
	case v.Due > 0 && !v.Releasing:
		text = "every migrated record is accounted for, 0 damaged, and " + screen.Count(v.Due, "is still to be handed over", "are still to be handed over")
	default:
		text = "every migrated record is accounted for, 0 damaged"
		if free := released(v); len(free) > 0 {
			text += ". Released by mrtq: " + QueueNames(free)
		}
	}
	if v.Releasing || v.Uncompleted > 0 || len(v.NotMigrated) > 0 { // nobody may miss it
		return screen.Attention, "passed", "but " + notes[0] + sentences(append(notes[1:], text))
	}
	return screen.Good, "passed", text + also
}

func sentences(texts []string) (all string) {
	for _, text := range texts {
		all += ". " + screen.Sentence(text)
	}
	return all
}

// Counts counts what a run created, or a rollback removed.
func Counts(c migration.Counts) string {
	return fmt.Sprintf("%s, %s and %s", screen.Count(c.Jobs, "job", "jobs"), screen.Count(c.Access, "access request", "access requests"), screen.Count(c.Batches, "batch", "batches"))
}
