package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"mrtq/internal/openfile"
	"mrtq/internal/text"
)

var (
	//go:embed frame.html
	frameHTML string
	//go:embed page.html
	pageHTML string
	//go:embed rehearsal.html
	rehearsalHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

var page, rehearsalPage = framed(pageHTML), framed(rehearsalHTML)

// framed is the template of a page with these sections.
func framed(sections string) *template.Template {
	frame := template.Must(template.New("frame").Funcs(template.FuncMap{
		"number": number,
		"count":  count,
		"moment": moment,
		"line":   text.Line,
		"rest":   func(paths []string) int { return len(paths) - 1 },
		"some":   func(lists []list) bool { return len(lists) > 0 },
	}).Parse(frameHTML))
	return template.Must(frame.Parse(sections))
}

// frame has the values that frame.html shows: what all pages have.
type frame struct {
	CSS    template.CSS
	JS     template.JS
	Policy string // the content security policy

	By      string // the command that made the page
	Made    string
	Title   string
	Skip    string // the section for which a reader may skip the others
	Verdict Verdict
	Tiles   []tile
	Facts   []fact
	Of      any // what the sections show
}

func newFrame(by, skip string, made time.Time, v Verdict) frame {
	return frame{CSS: template.CSS(pageCSS), JS: template.JS(pageJS), Policy: policy(), By: by, Made: moment(made), Skip: skip, Verdict: v}
}

// beforeLists begins the element with the lists.
const beforeLists = `<script type="application/json" id="lists">`

// Write writes the page. Control characters, and marks that change the direction of
// writing, are shown as escapes; html/template escapes markup.
func Write(w io.Writer, d *Data) error {
	v := newContent(d)
	return execute(w, page, v.frame, v, v.lists())
}

// IsPage reports whether a file is a page that this package made.
func IsPage(path string) bool {
	page, err := openfile.ReadAll(path)
	return err == nil && bytes.HasPrefix(page, []byte("<!DOCTYPE html>")) && bytes.Contains(page, []byte(beforeLists))
}

// execute writes a page: its frame, and in it the sections of its content.
func execute(w io.Writer, page *template.Template, f frame, content any, shown []list) error {
	f.Of = content
	var b strings.Builder
	if err := page.Execute(&b, f); err != nil {
		return err
	}
	lists, err := json.Marshal(shown) // < and > are escaped in it, too
	if err != nil {
		return err
	}
	before, after, _ := strings.Cut(text.Printable(b.String()), beforeLists)
	_, err = fmt.Fprint(w, before, beforeLists, string(lists), after)
	return err
}

// policy is the page's content security policy: it allows only the page's own
// style and script, by their digests.
func policy() string {
	digest := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return strings.Join([]string{
		"default-src 'none'",
		"style-src " + digest(pageCSS),
		"script-src " + digest(pageJS),
		"base-uri 'none'",
		"form-action 'none'",
	}, "; ")
}
