package view

import (
	"fmt"
	"unicode/utf8"

	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/migrate"
)

// ItemWord says in a word what became of an item.
func ItemWord(it *migrate.FindResult) string {
	switch {
	case it.Job == "":
		return "not migrated"
	case len(it.Nodes) == 0:
		return "removed"
	case it.Path == "":
		return "not from a migration"
	}
	return "migrated"
}

// ItemVerdict says in one sentence what became of an item.
func ItemVerdict(it *migrate.FindResult) string {
	switch {
	case it.Path == "":
		return it.Job + " is " + it.State + ", and no migration made it"
	case it.Job == "":
		text := it.Path + " is in the legacy queue, and not in the new one"
		if it.Record.Err != nil {
			text += ", because it can't be decoded: " + it.Record.Err.Error()
		} else if it.Reason != "" {
			text += ": " + it.Reason
		}
		return text
	}
	text := fmt.Sprintf("%s became %s, which is %s", it.Path, it.Job, it.State)
	if len(it.Nodes) == 0 {
		text = fmt.Sprintf("%s became %s, which was removed: finished and cleaned up, or deleted", it.Path, it.Job)
	}
	if it.OtherEnsemble {
		return text + "; the legacy queue is in another ensemble, so its record was not read"
	}
	if it.Standing == migrate.StandingRenamed {
		return text + "; the record has another name now: " + it.Record.Path
	}
	return text + standings[it.Standing]
}

var standings = map[migrate.Standing]string{
	migrate.StandingHandedOver: "; the record was handed over to it",
	migrate.StandingAgain:      "; the record was handed over to it, and is in the legacy queue again",
	migrate.StandingChanged:    "; the record has changed since",
	migrate.StandingTaken:      "; the record was handed over by another target",
	migrate.StandingAbsent:     "; the record is no longer in the legacy queue",
	migrate.StandingUnknown:    "; its record can't be read: give credentials that can read it",
}

// Item prints a record, its line in the ledger, the znodes of its job, and the notices.
func Item(s *screen.Screen, it *migrate.FindResult) {
	if it.Record != nil {
		s.Table("Legacy record", []string{"RECORD", "STATUS", "TIME", "FORMAT", "WHAT"}, []screen.Row{RecordRow(*it.Record)})
	}
	if it.Run != "" {
		s.Table("Migration ledger", []string{"RECORD", "RUN", "JOB"}, []screen.Row{{it.Path, it.Run, it.Job}})
	}
	var rows []screen.Row
	for _, n := range it.Nodes {
		data := string(n.Data)
		if !utf8.Valid(n.Data) {
			data = fmt.Sprintf("%d bytes", len(n.Data))
		}
		rows = append(rows, screen.Row{n.Path, n.Stat.Version, data})
	}
	s.Table("New queue", []string{"ZNODE", "VERSION", "DATA"}, rows)
	for _, n := range it.Notices {
		s.Prose("notice: ", n.What+": "+n.Then)
	}
}
