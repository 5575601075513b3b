package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"strings"
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
	"some":   func(lists []list) bool { return len(lists) > 0 },
}).Parse(pageHTML))

// Write writes the page.
func Write(w io.Writer, d *Data) error {
	harmless := *d
	scrub(&harmless)
	v := newView(&harmless)
	packed, err := pack(v.lists())
	if err != nil {
		return err
	}
	v.CSS, v.JS, v.Policy, v.Packed = template.CSS(pageCSS), template.JS(pageJS), policy(), template.HTML(packed)
	var b strings.Builder
	if err := page.Execute(&b, v); err != nil {
		return err
	}
	_, err = io.WriteString(w, b.String())
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
