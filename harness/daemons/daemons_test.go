package daemons_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"mrtq/harness/daemons"
	"mrtq/internal/layout"
	"mrtq/internal/layout/merritt"
	"mrtq/internal/layout/merritt/services"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

func findings(t *testing.T, tree *znode.Tree) []layout.Finding {
	all := value(deployedMap(t).Check(t.Context(), layout.InMemory(tree), layout.Options{}))(t).Findings
	return slices.DeleteFunc(all, func(f layout.Finding) bool { return f.Severity == layout.Info })
}

func deployedMap(t *testing.T) *layout.Map {
	return value(merritt.Named("merritt", string(newqueue.MrtZK)))(t)
}

func says(f layout.Finding, s services.Stop) bool { return strings.HasSuffix(f.Found, ": "+s.String()) }

// happened reports whether a trouble is what a finding says: the effect, on its item or on
// that item's batch. Any item will do for a finding outside of all.
func happened(tree *znode.Tree, f layout.Finding, t daemons.Trouble) bool {
	item := regexp.MustCompile(`^(/batches/|/jobs/jid|/access/[^/]+/)[^/]+`).FindString(f.Path)
	return says(f, services.Stop{Daemon: t.Daemon, Effect: t.Effect}) && (item == "" || t.Item == item || t.Item == batchOf(tree, item))
}
