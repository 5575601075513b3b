package openfile

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
)

func TestUnpack(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, "a dump\n"); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	whole := b.String()
	const header = 10 // bytes
	for name, c := range map[string]struct{ packed, want string }{
		"whole":          {whole, ""},
		"not packed":     {strings.Repeat("a dump\n", 10), "the name ends in .gz, but this is not a gzip file; rename it if it is not compressed"},
		"empty":          {"", "the gzip file ends too early: it was cut short; make or copy it again"},
		"half a header":  {whole[:5], "the gzip file ends too early: it was cut short; make or copy it again"},
		"cut short":      {whole[:len(whole)-9], "the gzip file ends too early: it was cut short; make or copy it again"},
		"wrong checksum": {whole[:len(whole)-8] + "xxxx" + whole[len(whole)-4:], "the gzip file is damaged: its checksum is wrong; make or copy it again"},
		"wrong bytes":    {whole[:header] + "\xff" + whole[header+1:], "the gzip file is damaged at byte 1; make or copy it again"},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := "", error(nil)
			r, err := Unpack(strings.NewReader(c.packed))
			if err == nil {
				var all []byte
				all, err = io.ReadAll(r)
				text = string(all)
			}
			if c.want == "" && (err != nil || text != "a dump\n") {
				t.Errorf("%q, %v", text, err)
			}
			if c.want != "" && (err == nil || err.Error() != c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
