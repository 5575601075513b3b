package main

import (
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/migrate"
)

// verifyVerdict sums up a verification in one line. target is TARGET, quoted for a shell.
// lacks says what the quarantine file lacks. It is "" if it lacks nothing.
func verifyVerdict(v *migrate.Verdict, target, lacks string) (tone, string) {
	differences := count(len(v.Differences), "difference", "differences")
	worked := workedOn(v)
	switch {
	case noRunHere(v):
		return bad, fmt.Sprintf("Verify: no run of mrtq migrate is recorded in %s. Check this address and its chroot, or migrate first.", target)
	case v.State == migrate.RunRunning:
		return bad, fmt.Sprintf("Verify: %s is not finished. Run the same mrtq migrate again (mrtq status %s shows it), then verify. Until then: %s.", v.Run, target, differences)
	case v.State == migrate.RunRollingBack:
		return bad, fmt.Sprintf("Verify: %s is not completely rolled back. Run mrtq rollback %s --run %s again. Until then: %s.", v.Run, target, v.Run, differences)
	case !v.OK() && notKept(v) == len(v.Differences):
		return bad, fmt.Sprintf("Verify: the target is what the source says it should be, but %s.", lacks)
	case !v.OK():
		text := fmt.Sprintf("Verify: %s: %v.", differences, errDiffers)
		if besides := slices.DeleteFunc([]string{worked, lacks}, func(s string) bool { return s == "" }); len(besides) > 0 {
			text += fmt.Sprintf(" Also: %s.", strings.Join(besides, "; "))
		}
		return bad, text
	case len(v.Worked.Abandoned) > 0:
		return attention, fmt.Sprintf("Verified: %s, 0 damaged. But %s not locked, and no deployed worker acquires them again: see above.", worked,
			count(len(v.Worked.Abandoned), "request in processing is", "requests in processing are"))
	case worked != "":
		return good, fmt.Sprintf("Verified: %s, 0 damaged.", worked)
	case len(v.Released) > 0:
		return good, fmt.Sprintf("Verified: the target is what the source says it should be. Released: %s.", strings.Join(lastNames(v.Released), ", "))
	}
	return good, "Verified: the target is what the source says it should be."
}

// notKept counts the differences of the quarantine file, and not of the target.
func notKept(v *migrate.Verdict) (n int) {
	for _, d := range v.Differences {
		if d.Kind == migrate.NotKept {
			n++
		}
	}
	return n
}

// workedOn says what workers have done since the release. It is "" if they did nothing.
func workedOn(v *migrate.Verdict) string {
	var parts []string
	if n := v.Worked.Jobs; n > 0 {
		parts = append(parts, count(n, "job", "jobs")+" at work")
	}
	if n := v.Worked.Finished; n > 0 {
		parts = append(parts, fmt.Sprintf("%d finished and cleaned up, or deleted (listed above)", n))
	}
	return strings.Join(parts, ", ")
}

// noRunHere reports whether there was nothing to verify: no run, and no sign of one
// that was lost.
func noRunHere(v *migrate.Verdict) bool {
	return v.Run == "" && v.Nodes == 0 && !slices.ContainsFunc(v.Differences, func(d migrate.Difference) bool { return d.Kind == migrate.Damaged })
}

// lastNames are the last parts of paths.
func lastNames(paths []string) (names []string) {
	for _, path := range paths {
		names = append(names, znode.Name(path))
	}
	return names
}
