package layoutmap

import (
	"slices"
	"strings"
	"time"

	"mrtq/internal/layout"
	"mrtq/internal/znode"
	"mrtq/newqueue"
)

// betweenWrites are the rules that a worker breaks between two of its writes, while it has the item locked: the
// deployed services change one znode after the other. docs/deployed-services.md, "What the daemons write".
var betweenWrites = []string{
	"queue-entry/no-entry", "queue-entry/wrong-queue", "queue-entry/wrong-priority", "batch-entry/no-entry", "batch-entry/wrong-folder",
	"batch-states/no-states", "batch-states/too-early", "batch-states/no-processing", "R05/status",
	"job-bid/missing", "job-configuration/missing", "job-priority/missing", "job-space/missing", "job-status/missing", "R27/identifiers",
	"R31/status.status",
}

// Patience is how long a session that has locked an item is given to go on, before what it left is named.
const Patience = 5 * time.Second

// BetweenWrites reports whether a worker that has an item locked breaks a rule of the map between two of its writes, or
// while it works.
func BetweenWrites(rule string) bool { return slices.Contains(betweenWrites, rule) }

// ItemAt is the path of the batch, job or access request that a znode belongs to. An entry belongs to its job. It is "" for
// other znodes.
func ItemAt(path string) string {
	part := strings.Split(path, "/")
	_, jid, isEntry := strings.Cut(znode.Name(path), "-")
	switch {
	case znode.Within(path, newqueue.JobStatesPath):
		if !isEntry {
			return ""
		}
		return newqueue.JobPath(jid)
	case znode.Within(path, newqueue.BatchesPath) && len(part) == 6:
		return newqueue.JobPath(part[5])
	case (znode.Within(path, newqueue.BatchesPath) || znode.Within(path, newqueue.JobsPath)) && len(part) > 2:
		return strings.Join(part[:3], "/")
	case znode.Within(path, newqueue.AccessPath) && len(part) > 3:
		return strings.Join(part[:4], "/")
	}
	return ""
}

// Locks notes which sessions have locked items of a tree, while it is checked. It reports nothing.
type Locks struct{ sessions map[string]int64 }

// NewLocks returns a Locks that has seen none.
func NewLocks() *Locks { return &Locks{map[string]int64{}} }

// Visit notes a lock. One that is not ephemeral belongs to nobody.
func (l *Locks) Visit(v layout.Visit) {
	if slices.Contains([]string{"batch-lock", "job-lock", "request-lock"}, v.Node.ID) && v.Znode.Stat.EphemeralOwner != 0 {
		l.sessions[znode.Parent(v.Znode.Path)] = v.Znode.Stat.EphemeralOwner
	}
}

// Done does nothing.
func (l *Locks) Done(time.Time) {}

// Of is the session that may be between two writes, if a finding is about that; 0 if none is.
func (l *Locks) Of(f layout.Finding) int64 {
	if !BetweenWrites(f.Rule) || f.Severity == layout.Info {
		return 0
	}
	item := f.Item
	if item == "" {
		item = ItemAt(f.Path)
	}
	return l.sessions[item]
}
