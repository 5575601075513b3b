package plan

import "mrtq/migrate/migration"

func recordProblem(r migration.Record, reason string) migration.Problem {
	if r.Err.Kind == migration.Unreadable {
		return migration.Problem{Kind: migration.ProblemUnreadable, Path: r.Path, Record: r.Err.Kind, Message: reason,
			Next: "give credentials that may read it, or have its ACL changed; if this is a dump, make it again with them"}
	}
	p := migration.Problem{Kind: migration.ProblemUndecodable, Path: r.Path, Record: r.Err.Kind, Message: reason,
		Next: "repair the record, or have undecodable records quarantined: their bytes are kept"}
	if r.Err.Offset >= 0 {
		p.Offset = &r.Err.Offset
	}
	return p
}
