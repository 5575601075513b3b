package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// quarantineFile is the default name of a migration's quarantine file. It contains the
// target's name. So two migrations rarely share a file, and a migration that is run again
// uses the same file.
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
	return quarantinePrefix + name + quarantineEnd
}

const quarantinePrefix, quarantineEnd = "mrtq-quarantine-", ".ndjson"

// unfit are characters that a file's name should not have.
var unfit = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

const longestName = 150 // of 255 that a file's name can have

// quarantineLacks says that a quarantine file lacks the bytes of this number of records,
// and what to do. This is no fault of the target.
func quarantineLacks(path string, target endpoint, records int) string {
	lacks := fmt.Sprintf("--quarantine %s doesn't hold the bytes of %s", path, count(records, "undecodable record", "undecodable records"))
	if found := notAFile(path); found != "" {
		lacks += ": " + found
	}
	return lacks + ". " + wantQuarantine(target)
}

// wantQuarantine says which file to give.
func wantQuarantine(target endpoint) string {
	return fmt.Sprintf("mrtq migrate wrote %s in the folder where it ran, unless you gave it another --quarantine: give that file", quarantineFile(target))
}

// notAFile says what is at path instead of a file. It is "" if there is a file.
func notAFile(path string) string {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.Mode().IsRegular():
		return ""
	case err == nil && info.IsDir():
		return "it is a folder, which has " + quarantinesIn(path)
	case err == nil:
		return "it is not a regular file"
	}
	folder := filepath.Dir(path)
	if _, err := os.Stat(folder); err != nil {
		return "there is no folder " + folder
	}
	return "it is not there; the folder " + folder + " has " + quarantinesIn(folder)
}

// quarantinesIn names the quarantine files in a folder.
func quarantinesIn(folder string) string {
	var names []string
	entries, _ := os.ReadDir(folder) // a folder that can't be read shows none
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), quarantinePrefix) && strings.HasSuffix(e.Name(), quarantineEnd) {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return "no quarantine file"
	}
	return firstOf(names, len(names))
}
