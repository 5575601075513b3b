package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"mrtq/internal/layout"
)

// Check is the output of mrtq check -o json.
type Check struct {
	Findings []layout.Finding `json:"findings"`
}

// ErrFindings says that a file is not an output of mrtq check.
var ErrFindings = errors.New(`this is not the output of mrtq check: want {"findings":[{"path":…,"rule":…,"severity":…},…]}`)

// ReadFindings reads mrtq check's JSON. The worst findings come first. Unknown fields are
// ignored. Errors wrap [ErrFindings].
func ReadFindings(r io.Reader) (*Check, error) {
	var c Check
	if err := readOne(r, &c); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFindings, err)
	}
	if c.Findings == nil {
		return nil, ErrFindings
	}
	for i, f := range c.Findings {
		if f.Path == "" || f.Rule == "" || !slices.Contains(layout.Severities, f.Severity) {
			return nil, fmt.Errorf("%w: finding %d has no path, no rule or no known severity", ErrFindings, i+1)
		}
	}
	rank := func(f layout.Finding) int { return slices.Index(layout.Severities, f.Severity) }
	slices.SortStableFunc(c.Findings, func(a, b layout.Finding) int { return cmp.Compare(rank(a), rank(b)) })
	return &c, nil
}

// Count is the number of findings with a severity.
func (c *Check) Count(s layout.Severity) int {
	n := 0
	for _, f := range c.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}
