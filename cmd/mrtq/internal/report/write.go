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
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

// page is the frame, with its sections.
var page = template.Must(template.Must(template.New("frame").Funcs(template.FuncMap{
	"number": number,
	"count":  count,
	"moment": moment,
	"line":   text.Line,
	"rest":   func(paths []string) int { return len(paths) - 1 },
	"some":   func(lists []list) bool { return len(lists) > 0 },
}).Parse(frameHTML)).Parse(pageHTML))

// frame has the values that frame.html shows.
type frame struct {
	CSS    template.CSS
	JS     template.JS
	Policy string // the content security policy

	Made    string
	Title   string
	Verdict Verdict
	Tiles   []tile
	Facts   []fact
	Of      any // what the sections show
}

func newFrame(made time.Time, v Verdict) frame {
	return frame{CSS: template.CSS(pageCSS), JS: template.JS(pageJS), Policy: policy(), Made: moment(made), Verdict: v}
}

// beforeLists begins the element with the lists.
const beforeLists = `<script type="application/json" id="lists">`

// Write writes the page. Control characters, and marks that change the direction of
// writing, are shown as escapes; html/template escapes markup.
func Write(w io.Writer, d *Data) error {
	v := newContent(d)
	v.frame.Of = v
	var b strings.Builder
	if err := page.Execute(&b, v.frame); err != nil {
		return err
	}
	lists, err := json.Marshal(v.lists()) // < and > are escaped in it, too
	if err != nil {
		return err
	}
	before, after, _ := strings.Cut(text.Printable(b.String()), beforeLists)
	_, err = fmt.Fprint(w, before, beforeLists, string(lists), after)
	return err
}

// IsPage reports whether a file is a page that this package made.
func IsPage(path string) bool {
	page, err := openfile.ReadAll(path)
	return err == nil && bytes.HasPrefix(page, []byte("<!DOCTYPE html>")) && bytes.Contains(page, []byte(beforeLists))
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
