package main

import (
	"fmt"
	"strings"

	"mrtq/migrate"
	"mrtq/newqueue"
)

// mostRows is how many rows of a long list a table shows. -o json has all.
const mostRows = 20

// printPlan prints the plan as tables: first what would be done, then everything that an
// operator should know before.
func (a *app) printPlan(p *migrate.Plan) {
	fmt.Fprintf(a.stdout, "plan      %s\n", p.ID[:16])
	fmt.Fprintf(a.stdout, "source    %s  zxid %d  %s\n", cell(p.Source.Name), p.Source.Zxid, p.Source.Hash[:16])
	fmt.Fprintf(a.stdout, "target    %s  zxid %d  %s\n", cell(p.Target.Name), p.Target.Zxid, p.Target.Hash[:16])
	run := "starts " + p.Run
	switch {
	case p.Resumes:
		run = "finishes " + p.Run
	case p.Blocked():
	case p.Empty() && p.NewestRun() != "":
		run = "none: " + p.NewestRun() + " is done"
	case p.Empty():
		run = "none"
	}
	fmt.Fprintf(a.stdout, "run       %s, dialect %s\n", cell(run), p.Dialect)
	a.prose("read by   ", p.Readers)
	fmt.Fprintln(a.stdout)
	if p.DialectAssumed && !p.Empty() {
		a.askDialect(p.Dialect)
	}

	a.table("", []string{"RECORDS", "COUNT"}, countRows(p))
	a.table("", []string{"QUEUE", "STATUS", "BECOMES", "COUNT"}, becomesRows(p))
	if n := len(p.Batches); n > 0 {
		made := 0
		for _, b := range p.Batches {
			if b.Made {
				made++
			}
		}
		fmt.Fprintf(a.stdout, "Batches: %d to create, %d to add to. Znodes of the layout: %d to create.\n\n", made, n-made, len(p.Structure))
	}

	list(a, "Problems: the plan can't be carried out while there are any", p.Problems, []string{"RECORD OR ZNODE", "PROBLEM"}, func(x migrate.Problem) []any {
		return []any{x.Path, x.Message}
	})
	a.printNext(p.Problems, p.Target.Name)
	a.printServices("What the deployed services would do with it", p.Services)
	a.printRisks(p)
	list(a, "Outstanding legacy locks: they are never migrated, and should be gone before a cutover", p.Locks, []string{"LOCK", "SINCE", "DATA", "CONSUMED RECORD"}, func(x migrate.HeldLock) []any {
		return []any{x.Path, x.Time, x.Data, x.Record}
	})
	if len(p.Locks) > 0 {
		a.prose("locks: ", locksNext)
		fmt.Fprintln(a.stdout)
	}
	list(a, "Migrated before, and gone from the source", p.Vanished, []string{"RECORD", "JOB"}, func(x migrate.VanishedAt) []any { return []any{x.Record, x.Job} })
	list(a, "Migrated before, and gone from the target: not recreated, unless --again names it", p.Gone, []string{"RECORD", "WHAT"}, func(x migrate.GoneAt) []any { return []any{x.Record, x.What} })
	a.printWarnings(p.Warnings)
	list(a, "Child lists over a Java client's default buffer", p.Lists, []string{"ZNODE", "CHILDREN", "BYTES", "WHAT IT MEANS"}, func(x migrate.ListSize) []any {
		return []any{x.Path, x.Children, x.Bytes, listMeans(x)}
	})
	list(a, "Legacy queues that are not open to all (the new znodes get --acl)", p.ACLs, []string{"ZNODE", "ACL"}, func(x migrate.ACLNote) []any { return []any{x.Path, aclText(x.ACL)} })
	list(a, "Sequence headroom", p.Headroom, []string{"PARENT", "NEXT", "NEEDED", "LEFT AFTER"}, func(x migrate.Headroom) []any { return []any{x.Path, x.Next, x.Needs, x.Left} })
	if len(p.Missing) > 0 {
		fmt.Fprintf(a.stdout, "Not in the source: %s\n\n", strings.Join(p.Missing, ", "))
	}
}

// askDialect asks the operator to decide the dialect, because an empty target does
// not show which services will read the new queue.
func (a *app) askDialect(assumed newqueue.Dialect) {
	fmt.Fprintln(a.stdout, paint(a.stdout, attention, "WHICH SERVICES WILL READ THE NEW QUEUE? CHOOSE WITH --dialect:"))
	for _, d := range newqueue.Dialects {
		a.prose(fmt.Sprintf("  --dialect %-10s", d), migrate.ReadBy(d))
	}
	fmt.Fprintf(a.stdout, "Until you decide, this plan is shown in dialect %s, and can't be carried out.\n\n", assumed)
}

func problems(n int) string { return count(n, "problem", "problems") }

// printNext says what to do about each kind of problem, once.
func (a *app) printNext(problems []migrate.Problem, target string) {
	said := map[string]bool{}
	for _, x := range problems {
		label := string(x.Kind) + ": "
		if line := label + x.Next; !said[line] && len(said) < mostRows {
			said[line] = true
			a.prose(label, strings.ReplaceAll(x.Next, "TARGET", shellWord(target)))
		}
	}
	if len(said) > 0 {
		fmt.Fprintln(a.stdout)
	}
}

func countRows(p *migrate.Plan) [][]any {
	var rows [][]any
	for _, act := range migrate.Actions {
		if n := p.Count(act); n > 0 {
			rows = append(rows, []any{toDo[act], n})
		}
	}
	return append(rows, []any{"all", p.Records.Len()})
}

func becomesRows(p *migrate.Plan) [][]any {
	type row struct {
		queue         migrate.QueueKind
		status, state string
	}
	counts := map[row]int{}
	var order []row
	for e := range p.Records.All() {
		if e.Action != migrate.ActCreate && e.Action != migrate.ActRewrite {
			continue
		}
		r := row{e.Queue, e.Status, e.State}
		if counts[r] == 0 {
			order = append(order, r)
		}
		counts[r]++
	}
	var rows [][]any
	for _, kind := range migrate.QueueKinds {
		for _, r := range order {
			if r.queue == kind {
				rows = append(rows, []any{string(r.queue), r.status, r.state, counts[r]})
			}
		}
	}
	return rows
}

func (a *app) printRisks(p *migrate.Plan) {
	var rows [][]any
	risky := 0
	for _, r := range p.Risks {
		chosen := ""
		if r.Chosen {
			chosen = "chosen"
		}
		rows = append(rows, []any{"--consumed " + r.Choice, len(r.Twice), len(r.Never), firstOf(append(r.Twice, r.Never...), len(r.Twice)+len(r.Never)), chosen})
		risky += len(r.Twice) + len(r.Never)
	}
	if risky > 0 {
		a.table("Consumed records: a worker may be working on them, or may have died while it worked on them", []string{"CHOICE", "COULD RUN TWICE", "COULD RUN NEVER", "WHICH", ""}, rows)
	}
}

// printServices counts, by kind, what no deployed service could work on.
func (a *app) printServices(title string, found []migrate.ServiceFinding) {
	list(a, title, found, []string{"COUNT", "WHAT IS WRONG", "WHAT WOULD HAPPEN", "WHICH"}, func(f migrate.ServiceFinding) []any {
		var paths []string
		for _, i := range f.Items {
			paths = append(paths, i.Path)
		}
		return []any{f.Count, f.What, f.Then, firstOf(paths, f.Count)}
	})
}

// locksNext says what to do about legacy locks (docs/night.md, "Leftover locks").
const locksNext = "stop the legacy workers, and plan again. A lock that stays was left by a worker that died: decide about its consumed record, if it names one, with --consumed. Then remove the lock if legacy workers may be started again, or leave it: nothing in the new queue reads it"

// firstOf lists the first paths, and counts the others. all is the number of all.
func firstOf(paths []string, all int) string {
	const most = 3
	if all <= most {
		return strings.Join(paths, " ")
	}
	return fmt.Sprintf("%s … and %d more", strings.Join(paths[:most], " "), all-most)
}

// list prints the first rows of a list as a table.
func list[T any](a *app, title string, items []T, header []string, row func(T) []any) {
	var rows [][]any
	for i, x := range items {
		if i == mostRows {
			title += fmt.Sprintf(" (the first %d of %d; -o json has all)", mostRows, len(items))
			break
		}
		rows = append(rows, row(x))
	}
	a.table(title, header, rows)
}

// sayNotes prints a summary of what mrtq plan would show. details is the command that
// shows it.
func (a *app) sayNotes(p *migrate.Plan, details string) {
	var notes []string
	if n := len(p.Locks); n > 0 {
		notes = append(notes, count(n, "legacy lock is still held", "legacy locks are still held"))
	}
	if n := len(p.Warnings); n > 0 {
		notes = append(notes, count(n, "warning", "warnings"))
	}
	for _, r := range p.Risks {
		if r.Chosen && len(r.Twice)+len(r.Never) > 0 {
			notes = append(notes, fmt.Sprintf("%s could run twice and %d never", count(len(r.Twice), "job", "jobs"), len(r.Never)))
		}
	}
	unserviceable := 0
	for _, f := range p.Services {
		if f.Blocking {
			unserviceable += f.Count
		}
	}
	if unserviceable > 0 {
		notes = append(notes, count(unserviceable, "fault keeps", "faults keep")+" a deployed service from working on a job")
	}
	if n := len(p.Vanished); n > 0 {
		notes = append(notes, count(n, "migrated record is", "migrated records are")+" gone from the source")
	}
	if n := len(p.Gone); n > 0 {
		notes = append(notes, count(n, "migrated record has", "migrated records have")+" no job in the target any more")
	}
	if len(notes) > 0 {
		a.say("%s. For details: %s", strings.Join(notes, ", "), details)
	}
}
