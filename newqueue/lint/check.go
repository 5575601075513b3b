package lint

import (
	"context"
	"errors"
	"fmt"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
	"mrtq/newqueue"
	"mrtq/newqueue/layoutmap"
)

// Problem is one place where a tree breaks a rule of the layout.
type Problem struct {
	Path    string // of the znode
	Rule    string // the rule's id; the command "mrtq layout merritt" lists all rules
	Message string // what is there, and what should be
}

// String returns path, message and rule on one line.
func (p Problem) String() string { return fmt.Sprintf("%s: %s (%s)", p.Path, p.Message, p.Rule) }

// Check compares a tree with the map of the layout, and returns every place that
// breaks a rule, in path order. It returns nil if there is none. It leaves out
// what the map only warns about.
//
// It looks only below /batches, /batch-uuids, /jobs, /access and /locks. It
// accepts any data in entries, folders and locks, and in /batches/BID, /jobs/JID
// and /access/QUEUE/QID, because no reader looks at it. It checks whether locks
// are ephemeral if the tree has Stats. No client may write while the tree is
// read, because the client library changes one znode after the other.
func Check(tree *znode.Tree, d newqueue.Dialect) []Problem {
	report, err := layout.Check(context.Background(), layout.InMemory(tree), layoutmap.Map(d), layout.Options{Natives: []layout.NewNative{layoutmap.Places(d)}})
	switch {
	case errors.Is(err, layout.ErrNoMatch):
		return nil
	case err != nil: // reading a tree in memory should never fail
		return []Problem{{"/", "layout", err.Error()}}
	}
	var problems []Problem
	for _, f := range report.Findings {
		if f.Severity == layout.Error {
			problems = append(problems, Problem{f.Path, f.Rule, f.Found + "; expected " + f.Expected})
		}
	}
	return problems
}
