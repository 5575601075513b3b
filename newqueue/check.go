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
	RuleContent    Rule = "content"     // data that can't be read as what it should be
	RuleState      Rule = "state"       // a state or a folder of a state that the dialect doesn't have
	RulePriority   Rule = "priority"    // a priority that is not 0 to 99, or an entry with another than its job's
	RuleQueueEntry Rule = "queue-entry" // a job is not in exactly the queue of its state
	RuleBatchEntry Rule = "batch-entry" // a job is not in exactly the folder of its batch that its state wants
	RuleOrphan     Rule = "orphan"      // a reference to something that isn't there
	RuleBatchJob   Rule = "batch-job"   // a job and a batch disagree on belonging together
	RuleUUID       Rule = "uuid"        // batch-uuids and a submission disagree
	RuleStates     Rule = "states"      // a batch has a states child and should not, or the reverse
	RuleLock       Rule = "lock"        // a lock that outlives its session, or should and doesn't
)

// Problem is one place where a tree breaks a rule of the layout.
type Problem struct {
	Path    string
	Rule    Rule
	Message string
}

func (p Problem) String() string { return fmt.Sprintf("%s: %s (%s)", p.Path, p.Message, p.Rule) }

// CheckLayout holds a tree to the invariants of the layout (02-new-layout,
// "Paths" and "Two dialects of one layout") and returns every place that
// breaks one, in path order; nil when all is well.
//
// It looks below /batches, /batch-uuids, /jobs, /access and /locks only. The
// data of /batches/BID, /jobs/JID and /access/QUEUE/QID is free, and so is
// that of entries, folders and locks: no reader looks at it. Whether a lock is
// ephemeral is checked where the tree has Stats. The tree must be at rest: a
// tree that was read while the client library wrote to it may show the middle
// of one of its steps.
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

// checkedJob is what the tree says about a job in all its places.
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

// children checks the names below a node against what may be there, and
// returns those that are allowed.
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

// leaf complains about children where there must be none.
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

// properties checks an entity's children against the ones that it may have.
// other are names that have their own check.
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

// object spares check what is spelled as no data (see [Dialect.noObject]).
func object(check func(*checker, string, []byte)) func(*checker, string, []byte) {
	return func(c *checker, path string, data []byte) {
		if !c.d.noObject(data) {
			check(c, path, data)
		}
	}
}

// texts checks that data is an object in which the given keys, where they are,
// hold texts: the client library fails on anything else.
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

// lockNode is an entity's lock: data free, no children, dying with its session.
func lockNode(c *checker, path string, _ []byte) { c.lockKind(path, true) }

// lockKind complains about a lock that lives longer or shorter than it should.
// A dump without Stats can't tell.
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

// statusTime checks the time of a status, which reading tolerates.
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
