package services

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf16"
)

// What the services' JSON libraries read differs. Ruby's (json 2.6.1 and 2.20.0) refuses what nests deeper than 100, and half of a
// surrogate pair, such as "\ud83d": at once, or when it writes it. org.json (20240303, 20251224) reads both. It calls
// itself for each level, so where it ends depends on the thread's stack: with Java's usual 1 MiB it read 1,000 levels,
// and not 3,000. Java replaces half of a pair by a question mark when it writes the znode again.
const (
	rubyNesting = 100
	javaNesting = 1000

	readable = "its JSON nests 100 deep at most and has no half of a surrogate pair"
)

func unreadable(d *Requirement, it *Item) []fault {
	switch deep := depth(map[string]any(it.Objects[d.Node])); {
	case deep > javaNesting:
		faults := one("it nests %d deep", deep)
		faults[0].stop = &Stop{map[string]Daemon{batches: BatchReport, jobs: Initialize, requests: Access}[it.pattern], StopsQueue}
		return faults
	case deep > rubyNesting:
		return one("it nests %d deep", deep)
	case slices.Contains(it.unpaired, d.Node):
		return one("it has half of a surrogate pair, and Java writes a question mark for it")
	}
	return nil
}

func depth(v any) int {
	deepest := 0
	switch v := v.(type) {
	case map[string]any:
		for _, in := range v {
			deepest = max(deepest, depth(in))
		}
	case []any:
		for _, in := range v {
			deepest = max(deepest, depth(in))
		}
	default:
		return 0
	}
	return deepest + 1
}

// unitEscapes matches escapes of UTF-16 units that follow each other, and the other escapes, in which \u is none.
var unitEscapes = regexp.MustCompile(`(?:\\u[0-9a-fA-F]{4})+|\\.`)

// hasUnpaired reports whether a string in JSON has half of a surrogate pair: as an escape, or as the three bytes that
// UTF-8 forbids.
func hasUnpaired(data []byte) bool {
	for rest := data; ; rest = rest[1:] {
		i := bytes.IndexByte(rest, 0xed)
		if i < 0 {
			break
		}
		if rest = rest[i:]; len(rest) > 1 && rest[1] >= 0xa0 && rest[1] < 0xc0 {
			return true
		}
	}
	const width = len("\\u0000")
	for _, run := range unitEscapes.FindAll(data, -1) {
		for high := rune(0); len(run) >= width; run = run[width:] {
			n, _ := strconv.ParseUint(string(run[2:width]), 16, 16)
			unit := rune(n)
			switch paired := utf16.DecodeRune(high, unit) != 0xfffd; {
			case paired:
				high = 0
			case high != 0:
				return true
			case unit >= 0xd800 && unit < 0xdc00:
				if high = unit; len(run) < 2*width {
					return true
				}
			case utf16.IsSurrogate(unit):
				return true
			}
		}
	}
	return false
}
