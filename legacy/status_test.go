package legacy

import (
	"strings"
	"testing"
)

// TestStatusChanges checks every pair against a matrix typed from the document.
func TestStatusChanges(t *testing.T) {
	const matrix = `
		           pending consumed deleted failed completed held
		pending    .       x        x       .      .         x
		consumed   x       .        x       x      x         x
		deleted    .       .        .       .      .         .
		failed     x       .        x       .      .         .
		completed  x       .        x       .      .         .
		held       x       .        x       .      .         .`
	lines := strings.Split(strings.TrimSpace(matrix), "\n")
	to := strings.Fields(lines[0])
	pairs := 0
	for _, line := range lines[1:] {
		cells := strings.Fields(line)
		s, err := ParseStatus(cells[0])
		if err != nil {
			t.Fatal(err)
		}
		for i, cell := range cells[1:] {
			next, err := ParseStatus(to[i])
			if err != nil {
				t.Fatal(err)
			}
			pairs++
			if got, want := s.CanBecome(next), cell == "x"; got != want {
				t.Errorf("%s to %s: got %t, want %t", s, next, got, want)
			}
		}
	}
	if pairs != 36 {
		t.Errorf("%d pairs decided, want 36", pairs)
	}
	for b := range 256 {
		if s := Status(b); s.Valid() != (b <= 5) || !s.Valid() && (s.CanBecome(Pending) || Pending.CanBecome(s)) {
			t.Errorf("byte %d: %s", b, s)
		}
	}
}

func TestStatusText(t *testing.T) {
	for b, name := range []string{"pending", "consumed", "deleted", "failed", "completed", "held"} {
		s := Status(b)
		text, err := s.MarshalText()
		if s.String() != name || string(text) != name || err != nil {
			t.Errorf("%d: got %s %s %v", b, s, text, err)
		}
		var back Status
		if err := back.UnmarshalText(text); err != nil || back != s {
			t.Errorf("%s: read as %s, %v", name, back, err)
		}
	}
	if _, err := Status(9).MarshalText(); err == nil || err.Error() != "status byte 9 is unknown: expected 0 to 5" {
		t.Errorf("got %v", err)
	}
	if Status(9).String() != "status(9)" {
		t.Errorf("got %s", Status(9))
	}
	const want = `status "gone" is unknown: expected one of pending, consumed, deleted, failed, completed, held`
	if _, err := ParseStatus("gone"); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
