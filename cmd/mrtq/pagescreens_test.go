package main

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// pageServer is the address of the disposable server in pages.
const pageServer = "localhost:2281"

// pageScreen is a command in a page, and what the page says that it prints.
type pageScreen struct {
	section, command string
	want             string // a line … stands for any number of lines
	after            string // the page's text up to the next screen or heading
	start, end       int    // where want is in the page
	indent           string
}

var pageLine = regexp.MustCompile("(?m)^( *)(.*)\n")

// pageScreens finds the commands in a page: in its blocks of code, the lines that begin with "$ ".
func pageScreens(page string) (screens []*pageScreen) {
	section, inBlock := "", false
	var at *pageScreen
	for _, m := range pageLine.FindAllStringSubmatchIndex(page, -1) {
		line := page[m[4]:m[5]]
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			inBlock = !inBlock
			if inBlock {
				at = nil
			}
		case inBlock && isCommand:
			at = &pageScreen{section: section, command: command, start: m[1], end: m[1], indent: page[m[2]:m[3]]}
			screens = append(screens, at)
		case inBlock && at != nil:
			at.end = m[1]
			at.want += strings.TrimPrefix(page[m[0]:m[1]], at.indent)
		case strings.HasPrefix(line, "#"):
			section, at = strings.TrimLeft(line, "# "), nil
		case at != nil:
			at.after += line + "\n"
		}
	}
	return screens
}

// matches reports whether the command printed what the page says.
func (s *pageScreen) matches(got string) bool {
	var parts []string
	for _, part := range strings.Split(varied(s.want), "…\n") {
		parts = append(parts, regexp.QuoteMeta(part))
	}
	return regexp.MustCompile(`\A` + strings.Join(parts, `(?:.*\n)*`) + `\z`).MatchString(varied(got))
}

// updated is the screen as it is now, with as many lines before and after each … as it has; of a
// screen that is only …, its last line.
func (s *pageScreen) updated(got string) string {
	head, tail, cut := strings.Cut(s.want, "…\n")
	lines := strings.SplitAfter(strings.TrimSuffix(got, "\n"), "\n")
	before, after := strings.Count(head, "\n"), max(strings.Count(tail, "\n"), 1)
	text := got
	if cut && before+after < len(lines) {
		text = strings.Join(lines[:before], "") + "…\n" + strings.Join(lines[len(lines)-after:], "") + "\n"
	}
	return regexp.MustCompile(`(?m)^(.)`).ReplaceAllString(text, s.indent+"$1")
}

// pageTerminal runs the commands of a page, on a server of the test.
type pageTerminal struct {
	dir            string
	env            []string
	toHere, toPage *strings.Replacer
}

// newPageTerminal makes a terminal in which pageServer is here.
func newPageTerminal(t *testing.T, here string) *pageTerminal {
	t.Helper()
	return &pageTerminal{
		dir: t.TempDir(), env: []string{"PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"},
		toHere: strings.NewReplacer(pageServer, here, fileName(pageServer), fileName(here)),
		toPage: strings.NewReplacer(here, pageServer, fileName(here), fileName(pageServer)),
	}
}

// run runs a command, and returns what it printed as the page would show it, and its exit code.
func (p *pageTerminal) run(t *testing.T, command string) (printed string, code int) {
	t.Helper()
	if set, is := strings.CutPrefix(command, "export "); is {
		p.env = append(p.env, strings.Fields(p.toHere.Replace(set))...)
		return "", 0
	}
	cmd := exec.Command("sh", "-c", p.toHere.Replace(command))
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return p.toPage.Replace(string(out)), exit.ExitCode()
	}
	must(t, err)
	return p.toPage.Replace(string(out)), 0
}

// fileName is an address as it is in the names of files.
func fileName(address string) string { return unfit.ReplaceAllString(address, "-") }

// varied replaces what differs from run to run by placeholders.
func varied(text string) string {
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, v.by)
	}
	text = regexp.MustCompile(`\b20\d\d-\d\d-\d\dT[\d:.]+Z`).ReplaceAllString(text, "TIME")
	return regexp.MustCompile(`(?m)\b\d+ s\.$`).ReplaceAllString(text, "T s.")
}
