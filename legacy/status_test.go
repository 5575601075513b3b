package legacy

import (
	"testing"
)

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
