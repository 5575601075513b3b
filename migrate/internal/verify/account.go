package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"mrtq/internal/layout"
	"mrtq/internal/layout/merritt"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
	"mrtq/migrate/internal/target"
	"mrtq/newqueue"
)

// looks is how often a job that violates the layout is looked at, and pause is the time
// between two looks. The services change one znode after the other, so what one look finds
// may be over at the next.
const (
	looks = 5
	pause = 100 * time.Millisecond
)

// account looks at jobs that workers may have worked on. Each must be in a state that the
// layout allows, or removed. One that a session has locked has some more time.
func (c *comparison) account(suspects []suspect) error {
	for look := 1; len(suspects) > 0; look++ {
		if look > 1 {
			if err := waitBefore(c.ctx, look); err != nil {
				return err
			}
		}
		seen, err := c.look(suspects)
		if err != nil {
			return err
		}
		var again []suspect
		for i, s := range suspects {
			if seen[i].problem != "" && (look < looks || look == looks && seen[i].isWorkedOn()) {
				again = append(again, s)
			} else {
				c.concludeJob(s, seen[i])
			}
		}
		suspects = again
	}
	return nil
}

// waitBefore waits before a look that is not the first one.
func waitBefore(ctx context.Context, look int) error {
	if look > looks {
		return sleep(ctx, layout.Patience)
	}
	return wait(ctx)
}

// wait is the pause between two looks.
func wait(ctx context.Context) error { return sleep(ctx, pause) }

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// sight is a job as one look saw it.
type sight struct {
	there   bool
	state   string       // as its status names it, in lower case; "unreadable" if that can't be read
	entries []string     // of the job, that are there
	nodes   []znode.Node // of the job, then its entries
	problem string       // the first rule of the layout that it violates; "" for none
	at      string       // the znode that does
	kind    Kind
	rule    string // that it violates, if a rule of the map found it
	lock    *znode.Node
}

// isWorkedOn reports whether a session has locked the job, and can have caused the problem between two of its writes.
func (s *sight) isWorkedOn() bool { return s.session() != 0 && merritt.BetweenWrites(s.rule) }

// session is the session that has locked the job; 0 if none has.
func (s *sight) session() int64 {
	if s.lock == nil {
		return 0
	}
	return s.lock.Stat.EphemeralOwner
}

// look looks at jobs as they are now.
func (c *comparison) look(suspects []suspect) ([]sight, error) {
	seen := make([]sight, len(suspects))
	tree := znode.NewTree()
	var jobs, want, extra []string
	for _, s := range suspects {
		jobs = append(jobs, s.entry.Job)
	}
	i := 0
	for sub, err := range c.v.t.Reader.Subtrees(c.ctx, slices.Values(jobs)) {
		if err != nil {
			return nil, err
		}
		seen[i] = c.sightOf(sub)
		entries, batch := target.Entries(c.v.dialect, suspects[i].entry.Job, sub.Nodes, suspects[i].entry.Batch)
		if seen[i].entries = entries; batch != "" {
			want = append(want, newqueue.BatchPath(batch))
		}
		for _, n := range sub.Nodes {
			if err := tree.Put(n); err != nil {
				return nil, err
			}
		}
		i++
	}
	for i := range seen {
		extra = append(extra, seen[i].entries...)
	}
	nodes, err := c.v.t.Reader.GetAll(c.ctx, compactPaths(append(want, extra...)), nil)
	if err != nil {
		return nil, err
	}
	there := map[string]znode.Node{}
	for _, n := range nodes {
		there[n.Path] = n
		if err := tree.Put(n); err != nil {
			return nil, err
		}
	}
	problems := map[string]layout.Finding{}
	for _, p := range merritt.Problems(tree, c.v.dialect) {
		// What a worker can't have caused counts first.
		job := jobOf(p.Path)
		if first := problems[job]; first.Path == "" || merritt.BetweenWrites(first.Rule) && !merritt.BetweenWrites(p.Rule) {
			problems[job] = p
		}
	}
	for i, s := range suspects {
		seen[i].entries = slices.DeleteFunc(seen[i].entries, func(path string) bool {
			n, ok := there[path]
			if ok {
				seen[i].nodes = append(seen[i].nodes, n)
			}
			return !ok
		})
		if err := c.v.pardon(c.ctx, seen[i].nodes, s.run); err != nil {
			return nil, err
		}
		seen[i].conclude(s, problems[znode.Name(s.entry.Job)])
	}
	return seen, nil
}

func compactPaths(paths []string) []string {
	slices.Sort(paths)
	return slices.Compact(paths)
}

// sightOf reads the state of a job or request.
func (c *comparison) sightOf(sub zkconn.Subtree) sight {
	s := sight{there: !sub.Missing(), state: "unreadable", nodes: sub.Nodes}
	for _, n := range sub.Nodes {
		if n.Path != sub.Root+"/status" {
			continue
		}
		if znode.Within(sub.Root, newqueue.AccessPath) {
			if status, err := newqueue.ParseAccessStatus(c.v.dialect, n.Data); err == nil {
				s.state = string(status.State)
			}
		} else if status, err := newqueue.ParseJobStatus(c.v.dialect, n.Data); err == nil {
			s.state = string(status.State)
		}
	}
	return s
}

// jobOf is the id of the job that a path of a job or of an entry belongs to.
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

// conclude says what is wrong with a job.
func (s *sight) conclude(of suspect, p layout.Finding) {
	if p.Path != "" {
		s.problem, s.at, s.kind, s.rule = p.Message(), p.Path, Layout, p.Rule
	}
	for _, n := range s.nodes {
		lock := n.Path == of.entry.Job+"/lock"
		if lock {
			s.lock = &n
		}
		was := s.problem
		switch {
		case n.Stat.EphemeralOwner != 0 && !lock:
			s.problem, s.at, s.kind = "it is ephemeral", n.Path, Layout
		case n.Unreadable != "":
			s.problem, s.at, s.kind = "it can't be read: "+n.Unreadable, n.Path, Layout
		case n.Stat.Aversion != 0:
			s.problem, s.at, s.kind = "its ACL is not the one that its run gives", n.Path, OtherACL
		case n.Stat.NumChildren != 0 && slices.Contains(s.entries, n.Path):
			s.problem, s.at, s.kind = "it has children, and no reader looks for any", n.Path, Extra
		}
		if s.problem != was {
			s.rule = ""
		}
	}
}

// concludeJob accounts for a job after the last look.
func (c *comparison) concludeJob(of suspect, s sight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.v
	if !s.there {
		v.removed(of.item)
		return
	}
	v.verdict.Nodes += len(s.nodes)
	for _, entry := range s.entries {
		v.expected[znode.Parent(entry)]++
	}
	v.there(of.item, s.state)
	about := Difference{Path: of.entry.Job, Record: of.entry.Record, Queue: of.queue}
	if s.isWorkedOn() {
		v.noticeWork(of.item, s)
		s.problem = ""
	}
	if s.state == string(newqueue.AccessProcessing) && s.lock == nil && of.queue != newqueue.HoldIngest && v.dialect == newqueue.MrtZK {
		v.notice(of.item, "it is in Processing, and nobody has locked it: no worker takes it again")
	}
	switch {
	case s.problem != "":
		about.Kind, about.Path, about.Message = s.kind, s.at, s.problem
		about.By = canCause[s.rule]
		if s.rule == orphanJob && newqueue.JobState(s.state).Folder() != newqueue.FolderProcessing {
			about.Remove = append([]string{of.entry.Job}, s.entries...)
		}
		v.differ(about)
	case of.differs != "":
		about.Kind, about.Message = ActedOn, fmt.Sprintf("%s; it is %s now", of.differs, s.state)
		v.differ(about)
	case of.record == nil && v.isExact(of.run, of.queue) && !asMade(of.entry.Job, s.nodes):
		about.Kind, about.Message = ActedOn, "it was changed"
		v.differ(about)
	}
}

// noticeWork says what a session works on.
func (v *verifier) noticeWork(it item, s sight) {
	v.notice(it, fmt.Sprintf("session %#x has locked it, and works on it: %s is not as it will be", s.session(), s.at))
}

// asMade reports whether nobody has written to the znodes of a job since they were created.
func asMade(root string, nodes []znode.Node) bool {
	return !slices.ContainsFunc(nodes, func(n znode.Node) bool {
		return n.Stat.Version != 0 || n.Stat.Czxid != nodes[0].Stat.Czxid || n.Path == root && n.Stat.Cversion != n.Stat.NumChildren
	})
}
