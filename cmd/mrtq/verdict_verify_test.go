package main

import (
	"testing"

	"mrtq/migrate"
)

// The last line of verify distinguishes damage from what is unfinished, released or changed
// by workers.
func TestVerifyVerdict(t *testing.T) {
	differs := []migrate.Difference{{Kind: migrate.NodeMissing, Path: "/jobs"}}
	kept := []migrate.Difference{{Kind: migrate.NotKept, Path: "/ingest/mrtQ-05000000000020"}}
	for _, c := range []struct {
		v     migrate.Verdict
		lacks string // what the quarantine file lacks
		tone  tone
		want  string
	}{
		{migrate.Verdict{Run: "run0000000000", State: migrate.RunDone}, "", good, "Verified: the target is what the source says it should be."},
		{migrate.Verdict{Run: "run0000000000", State: migrate.RunDone, Released: []string{"/locks/queue/ingest"}}, "", good,
			"Verified: the target is what the source says it should be. Released: ingest."},
		{migrate.Verdict{Run: "run0000000000", State: migrate.RunDone, Released: []string{"/locks/queue/ingest"}, Worked: migrate.WorkedOn{Jobs: 5, Finished: 2}}, "", good,
			"Verified: 5 jobs at work, 2 finished and cleaned up, or deleted (listed above), 0 damaged."},
		{migrate.Verdict{Run: "run0000000000", State: migrate.RunDone, Released: []string{"/locks/queue/accessSmall"}, Worked: migrate.WorkedOn{Jobs: 1, Abandoned: []string{"/access/small/qid0000000001"}}}, "", attention,
			"Verified: 1 job at work, 0 damaged. But 1 request in processing is not locked, and no deployed worker acquires them again: see above."},
		{migrate.Verdict{Run: "run0000000000", State: migrate.RunDone, Differences: differs}, "", bad,
			"Verify: 1 difference: the target is not what the source says it should be."},
		{migrate.Verdict{Run: "run0000000000", State: migrate.RunDone, Differences: differs, Worked: migrate.WorkedOn{Jobs: 1}}, "", bad,
			"Verify: 1 difference: the target is not what the source says it should be. Also: 1 job at work."},
		{migrate.Verdict{Run: "run0000000000", State: migrate.RunRunning, Differences: differs}, "", bad,
			"Verify: run0000000000 is not finished. Run the same mrtq migrate again (mrtq status TARGET shows it), then verify. Until then: 1 difference."},
		{migrate.Verdict{Run: "run0000000000", State: migrate.RunRollingBack, Differences: differs}, "", bad,
			"Verify: run0000000000 is not completely rolled back. Run mrtq rollback TARGET --run run0000000000 again. Until then: 1 difference."},
		{migrate.Verdict{Differences: differs}, "", bad, "Verify: no run of mrtq migrate is recorded in TARGET. Check this address and its chroot, or migrate first."},
		{migrate.Verdict{Run: "run0000000000", State: migrate.RunDone, Differences: kept}, "FILE is not there", bad,
			"Verify: the target is what the source says it should be, but FILE is not there."},
		{migrate.Verdict{Run: "run0000000000", State: migrate.RunDone, Differences: append(kept, differs...)}, "FILE is not there", bad,
			"Verify: 2 differences: the target is not what the source says it should be. Also: FILE is not there."},
		{migrate.Verdict{Differences: []migrate.Difference{{Kind: migrate.Damaged}}}, "", bad, "Verify: 1 difference: the target is not what the source says it should be."},
	} {
		if tone, got := verifyVerdict(&c.v, "TARGET", c.lacks); tone != c.tone || got != c.want {
			t.Errorf("%+v: %q (tone %d), want %q", c.v, got, tone, c.want)
		}
	}
}
