package screen

import (
	"regexp"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// command matches a command that a line tells people to run: after a colon, to the end of the line
// or to the next sentence. A quoted argument may hold anything.
var command = regexp.MustCompile(`: (mrtq [a-z]+(?: (?:'[^']*'|\\'|[^' ])+?)*?)(?:\. |$)`)

// shape makes text for stderr fit the terminal, if there is one. It breaks long lines between words,
// and gives each command a line of its own, in one piece, so that it can be pasted.
func (s *Screen) shape(lines string) string {
	if s.meter.width == nil {
		return lines
	}
	columns := s.meter.width()
	var out []string
	for line := range strings.SplitSeq(lines, "\n") {
		if text.StringWidthWithoutEscSequences(line) <= columns {
			out = append(out, line)
			continue
		}
		for {
			at := command.FindStringSubmatchIndex(line)
			if at == nil {
				break
			}
			out = append(out, wrap(line[:at[2]-1], columns), "  "+line[at[2]:at[3]])
			line = line[at[1]:]
		}
		if line != "" {
			out = append(out, wrap(line, columns))
		}
	}
	return strings.Join(out, "\n")
}

// padding matches what text.WrapSoft adds to lines.
var padding = regexp.MustCompile(` +(\n|$)`)

func wrap(line string, columns int) string {
	return padding.ReplaceAllString(text.WrapSoft(line, columns), "$1")
}
