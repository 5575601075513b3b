package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Check is what mrtq check has found, as its -o json has it.
type Check struct {
	Findings []Finding
}

// Finding is one thing in a tree that its map does not allow.
type Finding struct {
	Path, Rule, Severity, Expected, Found, Mend string
}

// ErrFindings says that a file holds no findings of mrtq check.
var ErrFindings = errors.New(`these are no findings of mrtq check: want {"findings":[{"path":…,"rule":…,"severity":…},…]}`)

// severities are those that the page knows, the worst first; another comes
// between the known, as it is spelled.
var severities = []string{"error", "warning", "information"}

// severityWords are other spellings of them.
var severityWords = map[string]string{"fatal": "error", "err": "error", "warn": "warning", "info": "information", "note": "information"}

// ReadFindings reads mrtq check's JSON. It is tolerant: it wants a list of
// findings with a path or a rule each, takes any of their other fields as text, and
// leaves alone what it doesn't know. Errors wrap [ErrFindings].
func ReadFindings(r io.Reader) (*Check, error) {
	var file struct {
		Findings *[]map[string]json.RawMessage `json:"findings"`
	}
	if err := readOne(r, &file); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFindings, err)
	}
	if file.Findings == nil {
		return nil, ErrFindings
	}
	c := &Check{Findings: []Finding{}}
	for i, fields := range *file.Findings {
		f := Finding{
			Path: rawText(fields["path"]), Rule: rawText(fields["rule"]), Severity: strings.ToLower(rawText(fields["severity"])),
			Expected: rawText(fields["expected"]), Found: rawText(fields["found"]), Mend: rawText(fields["mend"]),
		}
		if f.Path == "" && f.Rule == "" {
			return nil, fmt.Errorf("%w: finding %d has neither path nor rule", ErrFindings, i+1)
		}
		// A finding that doesn't say how bad it is counts as bad.
		f.Severity = cmp.Or(severityWords[f.Severity], f.Severity, severities[0])
		c.Findings = append(c.Findings, f)
	}
	slices.SortStableFunc(c.Findings, func(a, b Finding) int { return cmp.Compare(a.rank(), b.rank()) })
	return c, nil
}

// rawText is a field as text: a string itself, anything else as its JSON.
func rawText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func (f Finding) rank() int {
	if i := slices.Index(severities, f.Severity); i >= 0 {
		return 2 * i
	}
	return 1
}

// Errors is the number of findings that are errors.
func (c *Check) Errors() int {
	n := 0
	for _, f := range c.Findings {
		if f.Severity == severities[0] {
			n++
		}
	}
	return n
}
