package layout

import (
	"cmp"
	"fmt"
	"strings"
)

// Severity says how bad a finding is.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // the layout is broken there
	Warning Severity = "warning" // the layout works, at least for now
	Info    Severity = "info"    // worth knowing
)

// Severities are all severities, worst first.
var Severities = []Severity{Error, Warning, Info}

// Finding is one place at which a tree breaks one rule of a map.
type Finding struct {
	Path     string   `json:"path"`
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Expected string   `json:"expected"`
	Found    string   `json:"found"`
	// Repair says what an operator can do about it. It is "" if there is no
	// suggestion.
	Repair string `json:"mend,omitempty"`
	// LockedBy is the session that works on it at the moment, and may be between two writes. It is "" if nobody is known to work
	// on it.
	LockedBy string `json:"locked_by,omitempty"`
	// Item is what the finding is about, if that is another znode: the job whose
	// entry is missing, say.
	Item string `json:"-"`
	// Document is the place in the document that states the rule.
	Document string `json:"document,omitempty"`
}

func (f Finding) String() string {
	return fmt.Sprintf("%s: %s: expected %s, found %s (%s)", f.Severity, f.Path, f.Expected, f.Found, f.Rule)
}

// isWork reports whether a session may be about to mend it.
func (f Finding) isWork() bool { return f.LockedBy != "" }

// Message says what is there and what should be, without the path.
func (f Finding) Message() string { return f.Found + "; expected " + f.Expected }

func compareFindings(a, b Finding) int {
	return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Rule, b.Rule), strings.Compare(a.Found, b.Found), strings.Compare(a.Expected, b.Expected))
}

// repairs say what an operator can do about a kind of finding. They are for rules
// that don't say it themselves.
var repairs = map[string]string{
	UnknownPath:      "Find out who made it. Delete it if nobody needs it.",
	Unreadable:       "Give credentials that can read it.",
	Missing:          "Recreate it from its source, or delete what it belongs to.",
	TooOld:           "Find out whether its owner is still running. If not, delete it.",
	BadShape:         "Find out which version wrote it. Restore it, or delete what it belongs to.",
	NotEmpty:         "Find out who wrote it. Empty it if nobody reads it.",
	NotJSON:          restore,
	CorruptBlob:      restore,
	BlobTooLarge:     restore,
	MissingShard:     restore,
	BadShard:         "Find out who made it. Delete it if it is not part of the blob.",
	ShardTooLarge:    "Have the blob written again, because readers may refuse a shard of this size.",
	NotEphemeral:     "It would stay for ever. Delete it when no client uses the lock.",
	EqualNumbers:     "ZooKeeper never gives a number twice. Find out who copied the contender, and delete the copy.",
	ReadLock:         "Find out who made it. Others do not expect readers of this lock.",
	EmptyBlob:        restore,
	ShortShard:       restore,
	BadContender:     "Find out who made it. It may block the clients that wait for the lock.",
	"not-persistent": "Recreate it after the session that created it has ended.",
	"bad-name":       "Find out who made it. Delete it if nobody needs it.",
	"not-sequence":   "Find out who made it. Readers that expect a number may stop at it.",
}

const restore = "Restore it from a dump, or delete what it belongs to."
