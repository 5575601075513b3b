package main

import (
	"regexp"
	"strings"
)

// quarantineFile is the name of a migration's quarantine file unless another is
// given: of its target's own, so that two migrations rarely share one, and the
// same each time that one is run again.
func quarantineFile(target endpoint) string {
	name := target.text
	if target.file != "" {
		name = strings.TrimSuffix(strings.TrimSuffix(target.file, ".gz"), ".ndjson")
	}
	name = strings.Trim(unfit.ReplaceAllString(name, "-"), "-.")
	// What tells targets apart, the chroot, is at the end.
	if over := len(name) - longestName; over > 0 {
		name = strings.Trim(name[over:], "-.")
	}
	return "mrtq-quarantine-" + name + ".ndjson"
}

// unfit are characters that a file's name should not have.
var unfit = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

const longestName = 150 // of 255 that a file's name can have
