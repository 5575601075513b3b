package merritt

import (
	"context"
	"errors"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// Problems returns every place where a tree breaks a rule of the layout, in path order. It
// leaves out what the map only warns about, and what only the deployed services demand.
//
// It looks only below /batches, /batch-uuids, /jobs, /access and /locks. It checks
// whether locks are ephemeral if the tree has Stats. No client may write while the tree is
// read, because the client library changes one znode after the other.
func Problems(tree *znode.Tree, d newqueue.Dialect) []layout.Finding {
	report, err := Map(d).Check(context.Background(), layout.InMemory(tree), layout.Options{})
	switch {
	case errors.Is(err, layout.ErrNoMatch):
		return nil
	case err != nil: // reading a tree in memory should never fail
		return []layout.Finding{{Path: "/", Rule: "layout", Severity: layout.Error, Found: err.Error()}}
	}
	var problems []layout.Finding
	for _, f := range report.Findings {
		if f.Severity == layout.Error {
			problems = append(problems, f)
		}
	}
	return problems
}
