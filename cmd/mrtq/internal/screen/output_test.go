package screen

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"mrtq/internal/printable"
)

// actsOnTerminal reports whether a terminal would do more than show the characters of s.
func actsOnTerminal(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
	})
}

// hostile generates text with many characters that a terminal acts on.
func hostile() *rapid.Generator[string] {
	rare := rapid.SampledFrom([]rune("\x1b\x07\r\n\t\x00\x7f\u0085\u009b\u200d\u202e\u2066\u2028\ufeff\U000e0041\\\"é漢😀"))
	return rapid.Custom(func(t *rapid.T) string {
		return string(rapid.SliceOf(rapid.OneOf(rare, rapid.Rune())).Draw(t, "text"))
	})
}

func TestPrintable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := hostile().Draw(t, "s")
		if got := printable.Text(s); actsOnTerminal(got) {
			t.Errorf("%q is printed as %q", s, got)
		}
		if got := cell(s); strings.Contains(got, "\n") || actsOnTerminal(got) {
			t.Errorf("%q is %q in a cell", s, got)
		}
	})
}

// Escaped JSON means the same.
func TestEncodeJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := map[string]string{hostile().Draw(t, "key"): hostile().Draw(t, "value")}
		var b bytes.Buffer
		if err := encodeJSON(&b, want, ""); err != nil {
			t.Fatal(err)
		}
		line, more, _ := strings.Cut(b.String(), "\n")
		if more != "" || actsOnTerminal(line) {
			t.Errorf("%q is printed as %q", want, b.String())
		}
		var got map[string]string
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		for key, value := range want {
			if len(got) != 1 || got[key] != value {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	})
}

// If a write fails half-way, the file does not change, and no temporary file is left.
func TestWriteFileFails(t *testing.T) {
	lost := errors.New("the source is lost")
	for _, name := range []string{"new.ndjson", "old.ndjson", "new.ndjson.gz", "old.ndjson.gz"} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if strings.HasPrefix(name, "old") {
			if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := writeFile(path, func(w io.Writer) error {
			if _, err := w.Write(bytes.Repeat([]byte("new"), 1<<16)); err != nil {
				return err
			}
			return lost
		})
		if !errors.Is(err, lost) {
			t.Errorf("%s: %v, want %v", name, err, lost)
		}
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if strings.HasPrefix(name, "old") && (len(files) != 1 || string(content) != "old") ||
			strings.HasPrefix(name, "new") && (len(files) != 0 || !os.IsNotExist(err)) {
			t.Errorf("%s: %d files, %q, %v", name, len(files), content, err)
		}
	}
}
