package main

import (
	"regexp"
	"strings"
)

// quarantineFile is the default name of a migration's quarantine file. It is made
// from the target, so that two migrations rarely share a file, and a migration that
// is run again has the same.
func quarantineFile(target endpoint) string {
	name := target.text
	if target.file != "" {
		name = strings.TrimSuffix(strings.TrimSuffix(target.file, ".gz"), ".ndjson")
	}
	name = strings.Trim(unfit.ReplaceAllString(name, "-"), "-.")
	// Keep the end, because that is the chroot, in which targets differ.
	if over := len(name) - longestName; over > 0 {
		name = strings.Trim(name[over:], "-.")
	}
	return "mrtq-quarantine-" + name + ".ndjson"
}

// unfit are characters that a file's name should not have.
var unfit = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

const longestName = 150 // of 255 that a file's name can have
