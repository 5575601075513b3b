package merritt

import (
	"cmp"
	"slices"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
)

// betweenWrites are the rules that a worker breaks between two of its writes, while it has the item locked: the
// deployed services change one znode after the other. docs/deployed-services.md, "What the daemons write".
var betweenWrites = []string{
	"queue-entry/no-entry", "queue-entry/wrong-queue", "queue-entry/wrong-priority", "batch-entry/no-entry", "batch-entry/wrong-folder",
	"batch-states/no-states", "batch-states/too-early", "batch-states/no-processing", "R05/status",
	"job-bid/missing", "job-configuration/missing", "job-priority/missing", "job-space/missing", "job-status/missing", "R27/identifiers",
	"R31/status.status",
}

// BetweenWrites reports whether a worker that has an item locked breaks a rule of the map between two of its writes, or
// while it works.
func BetweenWrites(rule string) bool { return slices.Contains(betweenWrites, rule) }

// sessions notes which sessions have locked items of a tree, while it is checked. A finding about such
// an item can be what its session leaves between two writes. It reports nothing.
func sessions(func(layout.Finding, string)) layout.GoRules {
	of := map[string]int64{}
	return layout.GoRules{
		Visit: func(v layout.Visit) { // a lock that is not ephemeral belongs to nobody
			if slices.Contains([]string{"batch-lock", "job-lock", "request-lock"}, v.Node.ID) && v.Znode.Stat.EphemeralOwner != 0 {
				of[znode.Parent(v.Znode.Path)] = v.Znode.Stat.EphemeralOwner
			}
		},
		Session: func(f layout.Finding) int64 {
			if !BetweenWrites(f.Rule) {
				return 0
			}
			return of[cmp.Or(f.Item, znode.Parent(f.Path))] // these rules are about an entry, which names its item, or a znode of one
		},
	}
}
