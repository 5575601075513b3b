package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"mrtq/internal/layout"
	"mrtq/internal/layout/merritt"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/ledger"
	"mrtq/migrate/internal/target"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// looks is how often a job that violates the layout is looked at, and pause is the time
// between two looks. The services change one znode after the other, so what one look finds
// may be over at the next.
const (
	maxLooks = 5
	pause    = 100 * time.Millisecond
)

// account looks at jobs that workers may have worked on, or at entries of jobs. Each must be in a state that the
// layout allows, or removed. One that a session has locked has some more time. It calls conclude
// with each job as the last look saw it.
func (v *verifier) account(ctx context.Context, suspects []candidate, observe func(context.Context, []candidate) ([]observation, error), conclude func(context.Context, candidate, observation)) error {
	return repeatedly(ctx, suspects, func(some []candidate, look int) (again []candidate, err error) {
		seen, err := observe(ctx, some)
		if err != nil {
			return nil, err
		}
		for i, s := range some {
			if seen[i].problem != "" && (look < maxLooks || look == maxLooks && seen[i].isWorkedOn()) {
				again = append(again, s)
			} else {
				conclude(ctx, s, seen[i])
			}
		}
		return again, nil
	})
}

// repeatedly looks at some things, and after a pause again at those that look returns, until there are none. After the usual
// number of looks, the pause is what a session is given to go on.
func repeatedly[T any](ctx context.Context, some []T, look func(some []T, number int) ([]T, error)) error {
	for number := 1; len(some) > 0; number++ {
		var err error
		if some, err = look(some, number); err != nil || len(some) == 0 {
			return err
		}
		wait := pause
		if number >= maxLooks {
			wait = layout.GracePeriod
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

type observation struct {
	target.Job
	problem string // the first rule of the layout that it violates; "" for none
	at      string // the znode that does
	kind    migration.DifferenceKind
	rule    string // that it violates, if a rule of the map found it
	lock    *znode.Node
}

// isLeft reports whether the job, or what is there of it, is what a cleanup left that was killed: it removes a job's entries first, and so the next one does not
// find the job, and removes the batch. Nobody works on such a job, and nothing waits for it.
func (s *observation) isLeft(batch target.Batch) bool {
	switch s.state() {
	case string(newqueue.JobCompleted), string(newqueue.JobDeleted):
		return isCleaned(batch) && !slices.ContainsFunc(s.Entries, func(n znode.Node) bool { return znode.Within(n.Path, newqueue.BatchesPath) })
	case unreadable:
		return len(batch.Folders) == 0
	}
	return false
}

const unreadable = "unreadable"

func (s *observation) state() string {
	state, _ := s.Status()
	return cmp.Or(state, unreadable)
}

// isWorkedOn reports whether a session has locked the job, and can have caused the problem between two of its writes.
func (s *observation) isWorkedOn() bool { return s.session() != 0 && merritt.BetweenWrites(s.rule) }

// roots are the znodes that, with all below them, are the job.
func (s *observation) roots() []string {
	roots := []string{s.Of.Job}
	for _, entry := range s.Entries {
		roots = append(roots, entry.Path)
	}
	return roots
}

func (s *observation) session() int64 {
	if s.lock == nil {
		return 0
	}
	return s.lock.Stat.EphemeralOwner
}

func (v *verifier) observeJobs(ctx context.Context, suspects []candidate) ([]observation, error) {
	seen, found, err := v.readSuspects(ctx, suspects, nil)
	if err != nil {
		return nil, err
	}
	problems := map[string]layout.Finding{}
	for _, p := range found {
		// What a worker can't have caused counts first.
		job := jobOf(p.Path)
		if first := problems[job]; first.Path == "" || merritt.BetweenWrites(first.Rule) && !merritt.BetweenWrites(p.Rule) {
			problems[job] = p
		}
	}
	for i := range seen {
		s := &seen[i]
		for _, nodes := range [][]znode.Node{s.Nodes, s.Entries} {
			if err := v.clearExpectedACLs(ctx, nodes, suspects[i].run); err != nil {
				return nil, err
			}
		}
		s.violates(problems[znode.Name(s.Of.Job)])
		for i, n := range s.All() {
			if kind, says := oddity(n, i < len(s.Nodes)); says != "" {
				s.problem, s.at, s.kind, s.rule = says, n.Path, kind, ""
			}
		}
	}
	return seen, nil
}

func (v *verifier) observeEntries(ctx context.Context, suspects []candidate) ([]observation, error) {
	var entries []string
	for _, s := range suspects {
		entries = append(entries, s.foreignEntry)
	}
	seen, found, err := v.readSuspects(ctx, suspects, entries)
	if err != nil {
		return nil, err
	}
	problems := map[string]layout.Finding{}
	for _, p := range found {
		problems[p.Path] = p
	}
	for i := range seen {
		seen[i].violates(problems[entries[i]])
	}
	return seen, nil
}

func (v *verifier) readSuspects(ctx context.Context, suspects []candidate, more []string) ([]observation, []layout.Finding, error) {
	of := make([]*ledger.Migrated, len(suspects))
	for i, s := range suspects {
		of[i] = s.entry
	}
	jobs, err := v.t.Jobs(ctx, of, false)
	if err != nil {
		return nil, nil, err
	}
	paths := slices.Clone(more)
	for _, j := range jobs {
		if j.Batch != "" {
			paths = append(paths, newqueue.BatchPath(j.Batch))
		}
	}
	slices.Sort(paths)
	nodes, err := v.t.Reader.GetAll(ctx, slices.Compact(paths))
	if err != nil {
		return nil, nil, err
	}
	seen := make([]observation, len(jobs))
	for i, j := range jobs {
		seen[i].Job = j
		nodes = append(nodes, j.All()...)
		if lock := slices.IndexFunc(j.Nodes, func(n znode.Node) bool { return n.Path == j.Of.Job+"/lock" }); lock >= 0 {
			seen[i].lock = &j.Nodes[lock]
		}
	}
	tree := znode.NewTree()
	for _, n := range nodes {
		if err := tree.Put(n); err != nil {
			return nil, nil, err
		}
	}
	return seen, merritt.Problems(tree, v.dialect), nil
}

func (s *observation) violates(p layout.Finding) {
	if p.Path != "" {
		s.problem, s.at, s.kind, s.rule = p.Message(), p.Path, migration.DifferenceLayout, p.Rule
	}
}

func jobOf(path string) string {
	for name := range strings.SplitSeq(path, "/") {
		if _, id, isEntry := strings.Cut(name, "-"); isEntry {
			name = id
		}
		for _, prefix := range []string{newqueue.JobPrefix, newqueue.AccessPrefix} {
			if _, ok := newqueue.ParseSequenceID(prefix, name); ok {
				return name
			}
		}
	}
	return ""
}

// oddity is what is wrong with a znode although no rule of the layout says so; "" for nothing. isParent reports whether the
// layout decides what is below it.
func oddity(n znode.Node, isParent bool) (migration.DifferenceKind, string) {
	switch {
	case n.Stat.Aversion != 0:
		return migration.DifferenceOtherACL, otherACL
	case n.Stat.NumChildren != 0 && !isParent:
		return migration.DifferenceExtra, "it has children, and no reader looks for any"
	}
	return "", ""
}

func (v *verifier) concludeJob(ctx context.Context, of candidate, s observation) {
	left := s.rule != "" && s.Batch == s.Of.Batch && s.isLeft(v.batch(ctx, s.Batch))
	v.mu.Lock()
	defer v.mu.Unlock()
	if s.Gone() {
		v.removed(of.item)
		return
	}
	v.verdict.Nodes += len(s.All())
	for _, entry := range s.Entries {
		v.expected[znode.Parent(entry.Path)]++
	}
	v.there(of.item, s.state())
	about := migration.Difference{Path: of.entry.Job, Record: of.entry.Record, Queue: of.queue}
	if s.isWorkedOn() {
		v.noticeWork(of.item, s)
		s.problem = ""
	}
	if left {
		v.notice(of.item, "its batch was removed, or does not list it any more, as when a cleanup was killed. Nobody works on it, and nothing waits for it. To remove it, in zkCli.sh: deleteall "+strings.Join(s.roots(), ", deleteall "))
		s.problem = ""
	}
	if s.state() == string(newqueue.AccessProcessing) && s.lock == nil && of.queue != newqueue.HoldIngest && v.dialect == newqueue.MrtZK {
		v.notice(of.item, "it is in Processing, and nobody has locked it: no worker takes it again")
	}
	switch {
	case s.problem != "":
		about.Kind, about.Path, about.Message = s.kind, s.at, s.problem
		about.By = canCause[s.rule]
		if s.rule == orphanJob && s.state() == string(newqueue.JobFailed) {
			about.Remove = s.roots()
		}
		v.differ(about)
	case of.differs == oneMore:
		of.differs = v.addition(of.item, s.Nodes)
		fallthrough
	case of.differs != "":
		about.Kind, about.Message = migration.DifferenceActedOn, fmt.Sprintf("%s; it is %s now", of.differs, s.state())
		v.differ(about)
	case of.record == nil && v.isExact(of.run, of.queue) && s.ActedOn(of.run.Restored) != "":
		about.Kind, about.Message = migration.DifferenceActedOn, "it was changed"
		v.differ(about)
	}
}

func (v *verifier) noticeWork(it item, s observation) {
	v.notice(it, fmt.Sprintf("session %#x has locked it, and works on it: %s is not as it will be", s.session(), s.at))
}

const (
	orphanJob   = "job-bid/orphan"
	orphanEntry = "queue-entry/orphan"
)

// Who leaves damage, although nobody means to.
const (
	killedDaemon = "a daemon that was killed between two of its writes"
	deletedNode  = "an administrator, with Delete of a node"
	estimate     = "Estimate: it adds 10 to the priority of a job whose size it does not find"
)

// canCause says who can break a rule of the layout, although nobody means to. Nobody who follows the documents breaks any
// other (docs/deployed-services.md, "What the daemons write").
var canCause = map[string]string{
	"queue-entry/no-entry": killedDaemon, "queue-entry/wrong-queue": killedDaemon, "queue-entry/wrong-priority": killedDaemon,
	"batch-entry/no-entry": killedDaemon, "batch-entry/wrong-folder": killedDaemon,
	orphanEntry: deletedNode + "; two cleanups at one batch", "batch-entry/orphan": deletedNode,
	orphanJob:                "an administrator, with Delete of the batch and Cleanup Queue",
	"job-priority/bad-value": estimate, "queue-entry/three-digits": estimate,
}
