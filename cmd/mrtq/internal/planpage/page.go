// Package planpage makes one HTML file about a saved plan, for the person who must approve the
// cutover. The file is complete: it loads nothing from a network, and runs no script.
//
// A page shows what `mrtq plan` says, what an approver asks, and a row for each legacy record. It
// has no view of its own.
//
// A page is a pure function of its [Data]. Any text may be hostile. The page only shows it
// (see [mrtq/internal/text]): it never becomes markup.
package planpage

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/harness/rehearse"
	"mrtq/internal/text"
	"mrtq/migrate/migration"
)

// Data is everything that a page can show.
type Data struct {
	*migration.Plan
	Made time.Time
	// PlanID is the digest of the plan's file, unpacked, Version that of mrtq, and Rehearsal what --rehearsal gave; nil
	// for nothing.
	PlanID, Version string
	Rehearsal       *rehearse.Report
	Next            advice.Next
}

type content struct {
	*Data
	CSS                        template.CSS
	Policy                     string // the content security policy
	Made, Word, Tone, Sentence string
	Tiles                      []tile
	Facts                      []fact
	Choices                    []choice
	LeftOut                    []leftOut
}

type fact struct{ Name, Value string }

type tile struct {
	N           int
	Label, Tone string
	Link        string // the section that says more
}

type choice struct {
	migration.Choice
	Chosen string
	N      int // how many records it is about
}

type leftOut struct {
	Action, Reason string
	N              int
	Example        string
}

func newContent(d *Data) *content {
	v := &content{Data: d, CSS: template.CSS(pageCSS), Policy: policy()}
	if !d.Made.IsZero() {
		v.Made = d.Made.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	tone, word, sentence := view.PlanVerdict(d.Plan)
	v.Tone = map[screen.Tone]string{screen.Good: "good", screen.Attention: "warn", screen.Bad: "bad"}[tone]
	v.Word, v.Sentence = screen.Sentence(word), screen.Sentence(sentence)+"."
	v.tiles()
	v.decisions()
	v.facts()
	v.reasons()
	return v
}

// tiles count all records; those of each action, which add up to the first number; and those under
// each effect.
func (v *content) tiles() {
	add := func(n int, label, tone, link string) { v.Tiles = append(v.Tiles, tile{n, label, tone, link}) }
	add(len(v.Records), "records", "", "records")
	for _, action := range migration.Actions {
		if n := v.Count(action); n > 0 {
			add(n, view.ToDo[action], "", "records")
		}
	}
	for _, e := range migration.Effects {
		n := len(v.Affected(e))
		switch {
		case e == migration.EffectWarning: // not a number of records
		case n > 0:
			add(n, string(e), tone(e), "risks")
		case e == migration.EffectRunsTwice || e == migration.EffectNeverRuns:
			add(n, string(e), "good", "risks")
		}
	}
}

func tone(e migration.Effect) string {
	if e == migration.EffectLost || e == migration.EffectRunsTwice {
		return "bad"
	}
	return "warn"
}

func (v *content) facts() {
	made := 0
	for _, b := range v.Batches {
		if b.New {
			made++
		}
	}
	var flags []string
	for _, c := range v.Choices {
		if c.Chosen != c.Values[0] {
			flags = append(flags, "--"+c.Name+" "+c.Chosen)
		}
	}
	if v.Settings.Restored {
		flags = append(flags, "--restored")
	}
	var acl []string
	for _, a := range v.Settings.ACL {
		acl = append(acl, a.Public())
	}
	for _, f := range []fact{
		{"Target", v.Target}, {"Source", v.Source}, {"Dialect", string(v.Dialect)}, {"Plan", v.Run}, {"Note", v.Settings.Note}, {"ACL", strings.Join(acl, " ")}, {"Not in the source", strings.Join(v.Missing, " ")},
		{"Batches", fmt.Sprintf("%s to create, %s to add to", number(made), number(len(v.Batches)-made))},
		{"Decided", cmp.Or(strings.Join(flags, ", "), "everything as by default")},
	} {
		if f.Value != "" {
			v.Facts = append(v.Facts, f)
		}
	}
}

func (v *content) decisions() {
	for _, c := range migration.AllChoices {
		if row := (choice{c, *c.Value(&v.Plan.Choices), len(v.About(c.Name))}); row.N > 0 || row.Chosen != c.Values[0] {
			v.Choices = append(v.Choices, row)
		}
	}
}

func (v *content) reasons() {
	index := map[[2]string]int{}
	for i := range v.Records {
		r := &v.Records[i]
		if r.Action != migration.ActionSkip && r.Action != migration.ActionQuarantine && r.Action != migration.ActionBlock {
			continue
		}
		// A decoder's error begins with its kind: "corrupt-zlib at byte 15: …".
		kind, _, _ := strings.Cut(r.Reason, ":")
		kind, _, _ = strings.Cut(kind, " at byte ")
		key := [2]string{view.ToDo[r.Action], kind}
		at, there := index[key]
		if !there {
			at = len(v.LeftOut)
			index[key] = at
			v.LeftOut = append(v.LeftOut, leftOut{Action: key[0], Reason: kind, Example: r.Path})
		}
		v.LeftOut[at].N++
	}
	slices.SortStableFunc(v.LeftOut, func(a, b leftOut) int { return cmp.Compare(b.N, a.N) })
}

func number(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
)

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"number": number,
	"line":   text.Line,
	"tone":   tone,
	"toDo":   func(a migration.Action) string { return view.ToDo[a] },
	"rest":   func(paths []string) int { return len(paths) - 1 },
}).Parse(pageHTML))

const mark = `<meta name="generator" content="mrtq report">`

// IsPage reports whether a file is a page that this package made.
func IsPage(path string) bool {
	page, err := os.ReadFile(path)
	return err == nil && bytes.HasPrefix(page, []byte("<!DOCTYPE html>")) && bytes.Contains(page, []byte(mark))
}

// Write writes the page. Control characters, and marks that change the direction of
// writing, are shown as escapes; html/template escapes markup.
func Write(w io.Writer, d *Data) error {
	var b strings.Builder
	if err := page.Execute(&b, newContent(d)); err != nil {
		return err
	}
	_, err := io.WriteString(w, text.Printable(b.String()))
	return err
}

// policy is the page's content security policy: it allows only the page's own style, by its digest.
func policy() string {
	sum := sha256.Sum256([]byte(pageCSS))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}
