package newqueue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/znode"
)

// Rule names one invariant of the layout.
type Rule string

// The rules that [CheckLayout] holds a tree to.
const (
	RuleName       Rule = "name"        // a znode has a name that its place doesn't allow
	RuleUnknown    Rule = "unknown"     // a znode that the layout doesn't know
	RuleMissing    Rule = "missing"     // a znode that must be there isn't
	RuleContent    Rule = "content"     // data that can't be parsed
	RuleState      Rule = "state"       // a state or a folder of a state that the dialect doesn't have
	RulePriority   Rule = "priority"    // a priority outside 0 to 99, or an entry whose priority is not its job's
	RuleQueueEntry Rule = "queue-entry" // a job is not in the queue of its state, or also in another
	RuleBatchEntry Rule = "batch-entry" // a job is not in the folder of its state in its batch, or also in another
	RuleOrphan     Rule = "orphan"      // a reference to something that does not exist
	RuleBatchJob   Rule = "batch-job"   // a job and a batch disagree on whether they belong together
	RuleUUID       Rule = "uuid"        // batch-uuids and a submission disagree
	RuleStates     Rule = "states"      // a batch has a states child and should not, or has none and should
	RuleLock       Rule = "lock"        // a lock is persistent and should be ephemeral, or the reverse
)

// Problem is one place where a tree breaks a rule of the layout.
type Problem struct {
	Path    string
	Rule    Rule
	Message string
}

func (p Problem) String() string { return fmt.Sprintf("%s: %s (%s)", p.Path, p.Message, p.Rule) }

// CheckLayout checks the invariants of the layout (docs/new-layout.md, "Paths";
// docs/new-layout.md, "Two dialects"). It returns every place that breaks one,
// in path order, and nil if there is none.
//
// It looks only below /batches, /batch-uuids, /jobs, /access and /locks.
// /batches/BID, /jobs/JID and /access/QUEUE/QID may hold any data, and so may
// entries, folders and locks: no reader looks at it. Whether a lock is
// ephemeral is checked if the tree has Stats. Nobody may write to the tree
// while it is read, because the client library makes its steps one znode at a
// time.
func CheckLayout(tree *znode.Tree, d Dialect) []Problem {
	c := &checker{tree: tree, d: d, jobs: map[string]*checkedJob{}, batchIDs: map[string]string{}}
	c.jobNodes()
	c.queueEntries()
	c.batches()
	c.uuids()
	c.jobPlaces()
	c.access()
	c.locks()
	slices.SortFunc(c.problems, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(string(a.Rule), string(b.Rule)), strings.Compare(a.Message, b.Message))
	})
	return c.problems
}

type checker struct {
	tree     *znode.Tree
	d        Dialect
	jobs     map[string]*checkedJob
	batchIDs map[string]string // BID → the UUID that its submission has
	problems []Problem
}

// checkedJob is what the tree says about a job, in all places.
type checkedJob struct {
	bid          string
	state        JobState
	priority     int
	read         bool // state and priority could be read
	queueEntries []string
	batchEntries []string
}

func (c *checker) add(path string, r Rule, format string, args ...any) {
	c.problems = append(c.problems, Problem{path, r, fmt.Sprintf(format, args...)})
}

// children compares the names below a node with those that are allowed, and
// returns the allowed ones.
func (c *checker) children(path string, r Rule, want string, ok func(string) bool) []string {
	var good []string
	for _, name := range c.tree.Children(path) {
		if ok(name) {
			good = append(good, name)
			continue
		}
		c.add(znode.Join(path, name), r, "want %s here", want)
	}
	return good
}

// leaf reports the children of a node that must have none.
func (c *checker) leaf(path string) {
	for _, name := range c.tree.Children(path) {
		c.add(znode.Join(path, name), RuleUnknown, "nothing may be below %s", path)
	}
}

// property is a child of an entity that holds a value.
type property struct {
	name     string
	required bool
	check    func(c *checker, path string, data []byte)
}

// properties compares an entity's children with those that it may have. other
// are names with a check of their own.
func (c *checker) properties(path string, props []property, other ...string) {
	allowed := slices.Clone(other)
	for _, p := range props {
		allowed = append(allowed, p.name)
		at := znode.Join(path, p.name)
		n := c.tree.Get(at)
		switch {
		case n == nil && p.required:
			c.add(at, RuleMissing, "it must be there")
		case n != nil && p.check != nil:
			c.leaf(at)
			p.check(c, at, n.Data)
		}
	}
	c.children(path, RuleUnknown, "one of "+strings.Join(allowed, ", "), func(name string) bool {
		return slices.Contains(allowed, name)
	})
}

// content checks data by one of the parse functions.
func content[T any](parse func([]byte) (T, error)) func(*checker, string, []byte) {
	return func(c *checker, path string, data []byte) {
		if _, err := parse(data); err != nil {
			c.add(path, RuleContent, "%v", err)
		}
	}
}

// object does not pass on to check an object that is written as no data (see
// [Dialect.noObject]).
func object(check func(*checker, string, []byte)) func(*checker, string, []byte) {
	return func(c *checker, path string, data []byte) {
		if !c.d.noObject(data) {
			check(c, path, data)
		}
	}
}

// texts checks that data is an object in which the given keys, if present, hold
// strings: the client library fails on anything else.
func texts(keys ...string) func(*checker, string, []byte) {
	return content(func(data []byte) (Object, error) {
		o, err := ParseObject(data)
		p := fields{o: o, err: err}
		for _, k := range keys {
			p.text(k)
		}
		return o, p.err
	})
}

// lockNode checks an entity's lock: any data, no children, ephemeral.
func lockNode(c *checker, path string, _ []byte) { c.lockKind(path, true) }

// lockKind reports a lock that is persistent and should be ephemeral, or the
// reverse. A dump without Stats does not show it.
func (c *checker) lockKind(path string, ephemeral bool) {
	s := c.tree.Get(path).Stat
	switch {
	case s.Czxid == 0:
	case ephemeral && s.EphemeralOwner == 0:
		c.add(path, RuleLock, "this lock must be ephemeral, and will outlive whoever took it: remove it when no worker is at work there")
	case !ephemeral && s.EphemeralOwner != 0:
		c.add(path, RuleLock, "this lock must be persistent, and will end with session %#x", s.EphemeralOwner)
	}
}

// statusTime checks the time of a status. Readers tolerate a bad one.
func (c *checker) statusTime(path string, data []byte, key string) {
	o, err := ParseObject(data)
	if err != nil {
		return // reported as content
	}
	text, err := o.String(key)
	if err == nil {
		_, err = c.d.ParseTime(text)
	}
	if err != nil {
		c.add(path, RuleContent, "%s: %v", key, err)
	}
}

func isID(prefix string) func(string) bool {
	return func(name string) bool {
		_, ok := ParseSequenceID(prefix, name)
		return ok
	}
}

func oneOf[S ~string](values []S) func(string) bool {
	return func(name string) bool { return slices.Contains(values, S(name)) }
}
