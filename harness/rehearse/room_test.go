package rehearse

import "testing"

// A disk of some size can't be had for a test, so this test is beside what decides.
func TestNoRoomOnDisk(t *testing.T) {
	const needs = 1000 * copies * 10 * bytesOfRecord
	for free, want := range map[int64]bool{0: true, 1: false, needs - 1: false, needs: true} {
		if err := checkDisk("/data", free, 1000); (err == nil) != want {
			t.Errorf("%d bytes are free: %v", free, err)
		}
	}
	const want = "the rehearsal's server would write about 2288 MiB below /data, and 5 MiB are free there; free some, set TMPDIR to another folder, or rehearse on the embedded server"
	if err := checkDisk("/data", 5<<20, 20_000); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}
