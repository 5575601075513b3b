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

// Check is the output of mrtq check -o json.
type Check struct {
	Findings []Finding
}

// Finding is one fault of a tree, by its map.
type Finding struct {
	Path, Rule, Severity, Expected, Found, Mend string
}

// ErrFindings says that a file is not an output of mrtq check.
var ErrFindings = errors.New(`this is not the output of mrtq check: want {"findings":[{"path":…,"rule":…,"severity":…},…]}`)

// severities are the severities that the page knows, worst first. An unknown
// one is shown as it is spelled, after the errors and before the warnings.
var severities = []string{"error", "warning", "information"}

// severityWords are other spellings of them.
var severityWords = map[string]string{"fatal": "error", "err": "error", "warn": "warning", "info": "information", "note": "information"}

// ReadFindings reads mrtq check's JSON. It is tolerant: a finding needs only a
// path or a rule. A field that isn't a string is read as its JSON text, and
// unknown fields are ignored. Errors wrap [ErrFindings].
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
