package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"

	"mrtq/internal/printable"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"number": number,
	"count":  count,
	"moment": moment,
	"rest":   func(paths []string) int { return len(paths) - 1 },
	"some":   func(lists []list) bool { return len(lists) > 0 },
}).Parse(pageHTML))

// beforeLists begins the element with the lists.
const beforeLists = `<script type="application/json" id="lists">`

// Write writes the page. Control characters, and marks that change the direction of
// writing, are shown as escapes; html/template escapes markup.
func Write(w io.Writer, d *Data) error {
	v := newContent(d)
	v.CSS, v.JS, v.Policy = template.CSS(pageCSS), template.JS(pageJS), policy()
	var b strings.Builder
	if err := page.Execute(&b, v); err != nil {
		return err
	}
	lists, err := json.Marshal(v.lists()) // < and > are escaped in it, too
	if err != nil {
		return err
	}
	before, after, _ := strings.Cut(printable.Text(b.String()), beforeLists)
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
