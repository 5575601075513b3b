package view

import (
	"strings"
	"time"

	"mrtq/internal/znode"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// HoldNames lists the names of the holds at these paths.
func HoldNames(paths []string) string {
	var names []string
	for _, path := range paths {
		name := znode.Name(path)
		if znode.Parent(path) == newqueue.CollectionLocksPath {
			name = "collection " + name
		}
		names = append(names, name)
	}
	return Some(names)
}

func ownersText(owners []migration.HoldOwner) string {
	var texts []string
	for _, o := range owners {
		text := o.By
		if !migration.IsRunID(o.By) && !o.At.IsZero() {
			text += " since " + o.At.Format(time.RFC3339)
		}
		if !migration.IsRunID(o.By) && o.Why != "" {
			text += " (" + o.Why + ")"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, " and ")
}

// HoldsText says which queues and collections are held, and by whom.
func HoldsText(holds []migration.Hold) string {
	var order, parts []string
	names := map[string][]string{} // by owners
	for _, h := range holds {
		by := ownersText(h.Owners)
		if names[by] == nil {
			order = append(order, by)
		}
		name := string(h.Queue)
		if h.Collection != "" {
			name = "collection " + h.Collection
		}
		names[by] = append(names[by], name)
	}
	for _, by := range order {
		parts = append(parts, strings.Join(names[by], ", ")+" by "+by)
	}
	return strings.Join(parts, "; ")
}
