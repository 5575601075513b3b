package view

import (
	"fmt"
	"strings"

	"mrtq/internal/sides"
	"mrtq/migrate/migration"
)

// NoQueue says that no new queue is at a place, and what is there instead. It says first if that is
// a legacy queue.
func NoQueue(text string, found *migration.NoQueue) string {
	p, _ := sides.Parse(text)
	says := "there is no new queue at " + text + ": "
	switch {
	case len(found.Legacy) > 0:
		says += "this is a legacy queue, in " + Some(found.Legacy)
	case found.Missing && p.Server.Chroot != "":
		says += p.Server.Chroot + " is not there"
	case len(found.Znodes) == 0:
		says += "nothing is there"
	default:
		says += "it holds " + Some(found.Znodes)
	}
	if len(found.Queues) > 0 {
		says += fmt.Sprintf("; a new queue is below it, in %s", Some(found.Queues))
	}
	return says
}

// Some lists the first names, and counts the others.
func Some(names []string) string {
	const most = 8
	if n := len(names) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n)
	}
	return strings.Join(names, ", ")
}
