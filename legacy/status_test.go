package legacy

import (
	"testing"
)

func TestStatusText(t *testing.T) {
	for b, name := range []string{"pending", "consumed", "deleted", "failed", "completed", "held"} {
		if back, err := ParseStatus(name); Status(b).String() != name || back != Status(b) || err != nil {
			t.Errorf("%d: got %s, read as %s, %v", b, Status(b), back, err)
		}
	}
	if Status(9).String() != "status(9)" {
		t.Errorf("got %s", Status(9))
	}
	const want = `status "gone" is unknown: expected one of pending, consumed, deleted, failed, completed, held`
	if _, err := ParseStatus("gone"); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}
