package legacy

import (
	"fmt"
	"slices"
	"strings"
)

// Status is the first byte of a record (docs/legacy-format.md, "The header"). Its
// numbers are the bytes themselves.
type Status byte

// The six statuses. Any other byte is corrupt.
const (
	Pending   Status = 0 // waiting for a consumer
	Consumed  Status = 1 // a consumer has it
	Deleted   Status = 2 // to be removed by the legacy clean-up
	Failed    Status = 3
	Completed Status = 4
	Held      Status = 5 // kept back by an administrator
)

var statuses = [...]string{Pending: "pending", Consumed: "consumed", Deleted: "deleted", Failed: "failed", Completed: "completed", Held: "held"}

// Valid reports whether s is one of the six.
func (s Status) Valid() bool { return int(s) < len(statuses) }

// String returns the name, such as "pending", or "status(9)" for an unknown
// byte.
func (s Status) String() string {
	if !s.Valid() {
		return fmt.Sprintf("status(%d)", byte(s))
	}
	return statuses[s]
}

// ParseStatus returns the status with that name. The error lists the names.
func ParseStatus(name string) (Status, error) {
	if i := slices.Index(statuses[:], name); i >= 0 {
		return Status(i), nil
	}
	return 0, fmt.Errorf("status %q is unknown: expected one of %s", name, strings.Join(statuses[:], ", "))
}
