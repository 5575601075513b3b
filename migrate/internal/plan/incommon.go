package plan

import (
	"regexp"
	"slices"
	"strings"
)

// InCommon returns the words that two messages about different things share, with …
// where they differ. A message may already contain … from an earlier call.
func InCommon(a, b string) string {
	if a == b {
		return a
	}
	as, bs := words.FindAllString(a, -1), words.FindAllString(b, -1)
	if len(as) == len(bs) {
		for i, word := range as {
			if word != bs[i] {
				as[i] = different + punctuation(word, bs[i])
			}
		}
		return strings.Join(as, " ")
	}
	// Words are missing from one of them: only how they begin and end is the same.
	most := min(len(as), len(bs))
	begin := 0
	for begin < most && as[begin] == bs[begin] {
		begin++
	}
	end := 0
	for end < most-begin && as[len(as)-1-end] == bs[len(bs)-1-end] {
		end++
	}
	return strings.Join(slices.Concat(as[:begin], []string{different}, as[len(as)-end:]), " ")
}

// words are those of a message; what is quoted belongs to one word.
var words = regexp.MustCompile(`(?:"(?:\\.|[^"\\])*"|\S)+`)

// different stands for what differs.
const different = "…"

// punctuation is what both words end with, if that belongs to the sentence.
func punctuation(a, b string) string {
	last := a[max(0, len(a)-1):]
	if last != "" && strings.Contains(",;:.", last) && strings.HasSuffix(b, last) {
		return last
	}
	return ""
}
