package layout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/znode"
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
	// Mend says what an operator can do about it. It is "" if there is no
	// suggestion.
	Mend string `json:"mend,omitempty"`
	// Document is the place in the document that states the rule.
	Document string `json:"document,omitempty"`
	// Fix mends it. It is nil if there is no safe way to mend it.
	Fix *Fix `json:"-"`
}

// Fix is one transaction that mends a finding, and the locks that must not be
// held then.
type Fix struct {
	Ops []znode.Op
	// Locks must not exist when the transaction commits.
	Locks []string
}

func (f Finding) String() string {
	return fmt.Sprintf("%s: %s: expected %s, found %s (%s)", f.Severity, f.Path, f.Expected, f.Found, f.Rule)
}

func compareFindings(a, b Finding) int {
	return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Rule, b.Rule), strings.Compare(a.Found, b.Found), strings.Compare(a.Expected, b.Expected))
}

// same reports whether two looks found the same thing.
func (f Finding) same(g Finding) bool {
	return f.Path == g.Path && f.Rule == g.Rule && f.Found == g.Found && f.Expected == g.Expected
}

// Transaction returns all operations of a fix. For each lock, they create the
// lock's znode and delete it again. So the transaction fails if a client holds
// the lock, and no client can acquire it meanwhile.
func (f *Fix) Transaction() []znode.Op {
	var ops []znode.Op
	for _, lock := range f.Locks {
		ops = append(ops, znode.Create(lock, nil), znode.Delete(lock, -1))
	}
	return append(ops, f.Ops...)
}

// IsLock reports whether an operation of the transaction is about a lock.
func (f *Fix) IsLock(op znode.Op) bool { return slices.Contains(f.Locks, op.Path) }
