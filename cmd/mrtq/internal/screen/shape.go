package screen

import (
	"regexp"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// shape makes text for stderr fit the terminal, if there is one. It breaks long lines between words,
// but not a command that can be pasted.
func (s *Screen) shape(lines string) string {
	if s.meter.width == nil {
		return lines
	}
	columns := s.meter.width()
	var out []string
	for line := range strings.SplitSeq(lines, "\n") {
		if text.StringWidthWithoutEscSequences(line) > columns && !strings.HasPrefix(strings.TrimLeft(line, " "), "mrtq ") {
			line = wrap(line, columns)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// padding matches what text.WrapSoft adds to lines.
var padding = regexp.MustCompile(` +(\n|$)`)

// wrap gives the lines that it makes of one the same indent.
func wrap(line string, columns int) string {
	body := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(body)]
	wrapped := text.WrapSoft(body, columns-len(indent))
	return padding.ReplaceAllString(indent+strings.ReplaceAll(wrapped, "\n", "\n"+indent), "$1")
}
