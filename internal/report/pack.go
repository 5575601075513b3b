package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"mrtq/internal/printable"
)

// list is a long table that the page can search and sort. The page draws only
// the visible rows.
type list struct {
	ID      string       `json:"id"`
	One     string       `json:"one"` // "record"
	Many    string       `json:"many"`
	N       int          `json:"n"`
	Columns []listColumn `json:"columns"`
}

// listColumn is one column, as texts or as numbers.
type listColumn struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	// Shown: the table shows it. The other columns are shown only for a
	// selected row.
	Shown bool `json:"shown,omitempty"`
	// Facet: readers can choose one value, and see only the rows with it.
	Facet bool `json:"facet,omitempty"`
	// Time: the numbers are milliseconds since 1970.
	Time bool `json:"time,omitempty"`

	// A column has one of three forms. Numbers has a number or null for each
	// row. Lines has a line of text for each row. Words has each text once, and
	// Which has the index of each row's text.
	Numbers []*int64 `json:"numbers,omitempty"`
	Lines   string   `json:"lines,omitempty"`
	Words   []string `json:"words,omitempty"`
	Which   []int    `json:"which,omitempty"`
	First   []string `json:"-"` // cells of the first rows, which are in the page itself
}

// firstRows is how many rows are in the page itself, for browsers that can't
// unpack the lists.
const firstRows = 25

// texts fills a column. It stores each text once if the texts repeat enough.
func (c listColumn) texts(n int, text func(i int) string) listColumn {
	index := map[string]int{}
	which := make([]int, n)
	lines := make([]string, n)
	for i := range n {
		s := printable.Line(text(i))
		lines[i] = s
		at, there := index[s]
		if !there {
			at = len(index)
			index[s] = at
			c.Words = append(c.Words, s)
		}
		which[i] = at
	}
	c.First = lines[:min(n, firstRows)]
	if c.Facet || len(c.Words) <= n/4 {
		c.Which = which
		return c
	}
	c.Words, c.Lines = nil, strings.Join(lines, "\n")
	return c
}

func (c listColumn) numbers(n int, value func(i int) (int64, bool)) listColumn {
	c.Numbers = make([]*int64, n)
	values := make([]int64, n)
	for i := range n {
		v, there := value(i)
		if there {
			values[i] = v
			c.Numbers[i] = &values[i]
		}
		if i < firstRows {
			c.First = append(c.First, c.cell(v, there))
		}
	}
	return c
}

func (c listColumn) times(n int, value func(i int) time.Time) listColumn {
	c.Time = true
	return c.numbers(n, func(i int) (int64, bool) { t := value(i); return t.UnixMilli(), !t.IsZero() })
}

func (c listColumn) cell(v int64, there bool) string {
	switch {
	case !there:
		return ""
	case c.Time:
		return moment(time.UnixMilli(v))
	}
	return number(int(v))
}

// listCell is one cell in the page itself.
type listCell struct{ Name, Text string }

// First are the rows that are in the page itself.
func (l list) First() [][]listCell {
	rows := make([][]listCell, min(l.N, firstRows))
	for i := range rows {
		for _, c := range l.Shown() {
			rows[i] = append(rows[i], listCell{c.Name, c.First[i]})
		}
	}
	return rows
}

// Shown are the columns of the table.
func (l list) Shown() []listColumn {
	var shown []listColumn
	for _, c := range l.Columns {
		if c.Shown {
			shown = append(shown, c)
		}
	}
	return shown
}

// pack packs the lists for the page: JSON, gzip, base64.
func pack(lists []list) (string, error) {
	var b bytes.Buffer
	text := base64.NewEncoder(base64.StdEncoding, &b)
	z, err := gzip.NewWriterLevel(text, gzip.BestSpeed)
	if err != nil {
		return "", err
	}
	if err := json.NewEncoder(z).Encode(lists); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	if err := text.Close(); err != nil {
		return "", err
	}
	return b.String(), nil
}
