package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"mrtq/internal/plainjson"
)

// Coverage is the content of the file that mrtq accept --coverage writes.
type Coverage struct {
	Rows []CoverageRow `json:"rows"`
}

// CoverageRow is one documented transition, acquisition, lock or behaviour.
type CoverageRow struct {
	ID      string   `json:"id"`
	What    string   `json:"what"`
	Dialect string   `json:"dialect"`
	Result  string   `json:"result"`
	Why     []string `json:"why,omitempty"` // what is missing, if the row has not passed
}

// The results of a row.
const (
	CoveragePassed = "passed"
	CoverageFailed = "failed"
)

// ErrCoverage says that a file is not one that mrtq accept --coverage writes.
var ErrCoverage = errors.New("this is not a file that mrtq accept --coverage writes")

// ReadCoverage reads the file. Errors wrap [ErrCoverage].
func ReadCoverage(r io.Reader) (*Coverage, error) {
	var c Coverage
	if err := readOne(r, &c); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCoverage, err)
	}
	if len(c.Rows) == 0 {
		return nil, fmt.Errorf("%w: it has no rows", ErrCoverage)
	}
	for i, row := range c.Rows {
		if row.ID == "" || row.Result == "" {
			return nil, fmt.Errorf("%w: row %d has no id or no result", ErrCoverage, i+1)
		}
	}
	return &c, nil
}

// In returns the rows of one dialect, and those that every dialect has.
func (c *Coverage) In(dialect string) *Coverage {
	var in Coverage
	for _, r := range c.Rows {
		if r.Dialect == dialect || r.Dialect == "" {
			in.Rows = append(in.Rows, r)
		}
	}
	return &in
}

// Count is the number of rows with a result.
func (c *Coverage) Count(result string) int {
	n := 0
	for _, r := range c.Rows {
		if r.Result == result {
			n++
		}
	}
	return n
}

// readOne reads one JSON value, which may have unknown fields. Nothing may
// follow it.
func readOne(r io.Reader, v any) error {
	dec := json.NewDecoder(r)
	if err := dec.Decode(v); err != nil {
		return plainjson.Error(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("there is more data at byte %d", dec.InputOffset())
	}
	return nil
}
