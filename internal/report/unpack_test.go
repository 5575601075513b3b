package report

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
)

// unpacked returns the lists of a page, as the page's script reads them.
func unpacked(t testing.TB, html string) []list {
	t.Helper()
	_, rest, there := strings.Cut(html, `id="packed">`)
	packed, _, ended := strings.Cut(rest, "</script>")
	if !there || !ended {
		t.Fatal("the page has no packed lists")
	}
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed)))
	if err != nil {
		t.Fatal(err)
	}
	var lists []list
	if err := json.NewDecoder(z).Decode(&lists); err != nil {
		t.Fatal(err)
	}
	return lists
}
