package report

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// shownPage is a page as a browser without JavaScript shows it.
type shownPage struct {
	tiles  map[string]int
	tables map[string]*shownTable // by caption or label
}

type shownTable struct {
	head       []string
	body, foot [][]shownCell
}

type shownCell struct {
	text  string
	paths []string // the texts of bdi elements that are not in a summary
}

func (c shownCell) number(t testing.TB) int {
	t.Helper()
	n, err := strconv.Atoi(strings.ReplaceAll(c.text, ",", ""))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

var scripts = regexp.MustCompile(`(?s)<script.*?</script>|<style>.*?</style>`)

// read reads the tiles and the tables of a page.
func read(t testing.TB, html string) *shownPage {
	t.Helper()
	p := &shownPage{map[string]int{}, map[string]*shownTable{}}
	d := xml.NewDecoder(strings.NewReader(scripts.ReplaceAllString(html, "")))
	d.Strict, d.AutoClose, d.Entity = false, append(xml.HTMLAutoClose, "meta", "input"), xml.HTMLEntity
	var at []xml.StartElement
	var table *shownTable
	var rows *[][]shownCell
	text := ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return p
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			at = append(at, x.Copy())
			switch x.Name.Local {
			case "table":
				table = &shownTable{}
				p.tables[attribute(x, "aria-label")] = table
			case "tbody":
				rows = &table.body
			case "tfoot":
				rows = &table.foot
			case "tr":
				if rows != nil {
					*rows = append(*rows, nil)
				}
			case "td", "th", "caption", "li":
				text = ""
			}
			if row := last(rows); row != nil && (x.Name.Local == "td" || x.Name.Local == "th") {
				*row = append(*row, shownCell{})
			}
		case xml.CharData:
			text += string(x)
			if row := last(rows); row != nil && len(*row) > 0 {
				c := &(*row)[len(*row)-1]
				c.text = strings.TrimSpace(text)
				if at[len(at)-1].Name.Local == "bdi" && !slices.ContainsFunc(at, func(e xml.StartElement) bool { return e.Name.Local == "summary" }) {
					c.paths = append(c.paths, string(x))
				}
			}
		case xml.EndElement:
			at = at[:len(at)-1]
			switch x.Name.Local {
			case "caption":
				p.tables[text] = table
			case "th":
				if rows == nil {
					table.head = append(table.head, strings.TrimSpace(text))
				}
			case "table", "tbody", "tfoot":
				rows = nil
			case "li":
				if n, label, found := strings.Cut(strings.TrimSpace(text), " "); found && slices.ContainsFunc(at, func(e xml.StartElement) bool { return attribute(e, "class") == "tiles" }) {
					p.tiles[label] = shownCell{text: n}.number(t)
				}
			}
		}
	}
}

func last(rows *[][]shownCell) *[]shownCell {
	if rows == nil || len(*rows) == 0 {
		return nil
	}
	return &(*rows)[len(*rows)-1]
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
