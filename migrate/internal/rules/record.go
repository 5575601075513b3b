package rules

import (
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// KindOf returns the kind of queue that a job or request comes from, as far as its path shows: that
// of an inventory record's job is Ingest, which has the same hold.
func KindOf(job string) migration.QueueKind {
	for _, kind := range []migration.QueueKind{migration.AccessSmall, migration.AccessLarge} {
		if znode.Parent(job) == newqueue.AccessQueuePath(kind.AccessQueue()) {
			return kind
		}
	}
	return migration.Ingest
}

// Text returns a property as text; "" if the record has none.
func Text(p legacy.Payload, property string) string {
	s, _ := p.Text(property)
	return s
}
