package rules

import (
	"mrtq/legacy"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// Decision is what the choices decide about one record.
type Decision struct {
	Do     string // Migrate, Skip, Quarantine or Block
	State  State  // in which its job or request begins, for Migrate
	Reason string // "" for Migrate
}

const consumedMessage = "was consumed in the legacy queue when it was migrated"

// Decide says what a migration does with one record.
func Decide(r migration.Record, c migration.Choices) Decision {
	if r.Err != nil {
		// A record that can't be read has no bytes to keep.
		if c.Undecodable == migration.Quarantine && r.Err.Kind != migration.Unreadable {
			return Decision{Do: migration.Quarantine, Reason: r.Err.Error()}
		}
		return Decision{Do: migration.Block, Reason: r.Err.Error()}
	}
	status := r.Legacy.Header.Status
	switch {
	case status == legacy.Completed && c.Completed == migration.Skip:
		return Decision{Do: migration.Skip, Reason: "its status is completed"}
	case status == legacy.Deleted && c.Deleted == migration.Skip:
		return Decision{Do: migration.Skip, Reason: "its status is deleted"}
	case status == legacy.Consumed && c.Consumed == migration.Leave:
		return Decision{Do: migration.Skip, Reason: "consumed: left to the legacy worker that has it"}
	case status == legacy.Consumed:
		s := chosen(r.Queue, c.Consumed)
		if s.Job == newqueue.JobFailed || s.Access == newqueue.AccessFailed {
			s.Message = consumedMessage
		}
		return Decision{Do: migration.Migrate, State: s}
	case status == legacy.Failed:
		return Decision{Do: migration.Migrate, State: chosen(r.Queue, c.Failed)}
	}
	return Decision{Do: migration.Migrate, State: states[r.Queue][status]}
}
