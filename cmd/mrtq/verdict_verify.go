package main

import (
	"fmt"
	"slices"
	"strings"

	"mrtq/internal/znode"
	"mrtq/migrate"
)

// verifyVerdict is a verification in one line.
func verifyVerdict(v *migrate.Verdict) (tone, string) {
	differences := count(len(v.Differences), "difference", "differences")
	worked := workedOn(v)
	switch {
	case noRunHere(v):
		return bad, "Verify: no run of mrtq migrate is recorded in this target. Check its address and chroot, or migrate first."
	case v.State == migrate.RunRunning:
		return bad, fmt.Sprintf("Verify: %s is not finished. Run the same mrtq migrate again, then verify. Until then: %s.", v.Run, differences)
	case v.State == migrate.RunRollingBack:
		return bad, fmt.Sprintf("Verify: %s is not completely rolled back. Run mrtq rollback TARGET --run %s again. Until then: %s.", v.Run, v.Run, differences)
	case !v.OK() && worked != "":
		return bad, fmt.Sprintf("Verify: %s: %v. Besides: %s.", differences, errDiffers, worked)
	case !v.OK():
		return bad, fmt.Sprintf("Verify: %s: %v.", differences, errDiffers)
	case worked != "":
		return good, fmt.Sprintf("Verified: %s, 0 damaged.", worked)
	case len(v.Released) > 0:
		return good, fmt.Sprintf("Verified: the target is what the source says it should be. Released: %s.", strings.Join(lastNames(v.Released), ", "))
	}
	return good, "Verified: the target is what the source says it should be."
}

// workedOn is what workers have done since the release, "" for nothing.
func workedOn(v *migrate.Verdict) string {
	var parts []string
	if n := v.Worked.Jobs; n > 0 {
		parts = append(parts, count(n, "job", "jobs")+" at work")
	}
	if n := v.Worked.Finished; n > 0 {
		parts = append(parts, fmt.Sprintf("%d done and cleaned", n))
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
