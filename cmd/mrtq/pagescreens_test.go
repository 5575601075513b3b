package main

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pageServer is the address of the disposable server in pages.
const pageServer = "localhost:2281"

var untilInterrupted = regexp.MustCompile(`(?m)^mrtq (?:status .* --every .*|zk .*[^&\n])$`)

type pageScreen struct {
	section, commands string
	shown             bool   // the page has a screen of it
	want              string // a line … stands for any number of lines
	after             string // the page's text up to the next commands or heading
	start, end        int    // where want is in the page
}

// pageScreens returns the blocks of sh in a page. A block of text after one is what it prints.
func pageScreens(page string) (screens []*pageScreen) {
	section, block, at := "", "", 0
	var last *pageScreen
	for line := range strings.Lines(page) {
		at += len(line)
		switch fence, isFence := strings.CutPrefix(strings.TrimSpace(line), "```"); {
		case isFence && block != "":
			block = ""
		case isFence:
			block = cmp.Or(fence, "none")
			if block == "sh" {
				last = &pageScreen{section: section}
				screens = append(screens, last)
			} else if block == "text" && last != nil {
				last.shown, last.start, last.end = true, at, at
			}
		case block == "sh":
			last.commands += line
		case block == "text" && last != nil:
			last.want, last.end = last.want+line, at
		case block == "" && strings.HasPrefix(line, "#"):
			section, last = strings.TrimLeft(strings.TrimSpace(line), "# "), nil
		case block == "" && last != nil:
			last.after += line
		}
	}
	return screens
}

func (s *pageScreen) matches(got string) bool {
	var parts []string
	for _, part := range strings.Split(varied(s.want), "…\n") {
		parts = append(parts, regexp.QuoteMeta(part))
	}
	return regexp.MustCompile(`\A` + strings.Join(parts, `(?:.*\n)*`) + `\z`).MatchString(varied(got))
}

var resultLine = regexp.MustCompile(`^[A-Z][a-z]+: [a-z, ]+\.`)

// updated is the screen as it is now, with as many lines before and after … as it has, and the
// result at least.
func (s *pageScreen) updated(got string) string {
	at := strings.LastIndex(s.want, "…\n")
	head, tail, cut := s.want[:max(at, 0)], s.want[max(at, 0):], at >= 0
	lines := strings.SplitAfter(strings.TrimSuffix(got, "\n"), "\n")
	before, after := strings.Count(head, "\n"), strings.Count(tail, "\n")-1
	if i := slices.IndexFunc(lines, resultLine.MatchString); i >= 0 {
		after = max(after, len(lines)-i)
	}
	text := got
	switch {
	case strings.Contains(head, "…\n"): // what is between stays
		text = head + "…\n" + strings.Join(lines[len(lines)-after:], "") + "\n"
	case cut && before+after < len(lines):
		text = strings.Join(lines[:before], "") + "…\n" + strings.Join(lines[len(lines)-after:], "") + "\n"
	}
	return text
}

// updated is a page whose screens are as they are now.
func updated(page string, screens []*pageScreen, printed []string) string {
	for i, s := range slices.Backward(screens) {
		if s.shown && !s.matches(printed[i]) { // else only times differ
			page = page[:s.start] + s.updated(printed[i]) + page[s.end:]
		}
	}
	return page
}

type pageTerminal struct {
	dir            string
	toHere, toPage *strings.Replacer
}

func newPageTerminal(t *testing.T, here string) *pageTerminal {
	t.Helper()
	p := &pageTerminal{
		dir:    t.TempDir(),
		toHere: strings.NewReplacer(pageServer, here, fileName(pageServer), fileName(here), "localhost:2282", here, "localhost:2291", "localhost:0"),
		toPage: strings.NewReplacer(here, pageServer, fileName(here), fileName(pageServer), whoami(), "operator@ops1"),
	}
	must(t, os.WriteFile(filepath.Join(p.dir, "exported"), nil, 0o600))
	return p
}

// run runs commands, and returns what they printed as the page would show it, and the exit code of
// the first that failed. What they export stays for later ones.
func (p *pageTerminal) run(t *testing.T, commands string) (printed string, code int) {
	t.Helper()
	// A command that runs until Ctrl-C is ended after the first line of its data: a look's table, or a server's address.
	commands = untilInterrupted.ReplaceAllString(p.toHere.Replace(commands), "mkfifo said; $0 >said 2>&1 & exec 3<said; while read -r line <&3; do case $$line in RUN*) break;; *\" \"*) ;; *) break;; esac; done; kill $$!; wait $$!")
	out, err := p.command(commands + "\nexport -p >exported").CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return p.toPage.Replace(string(out)), exit.ExitCode()
	}
	must(t, err)
	return p.toPage.Replace(string(out)), 0
}

// command is a shell with commands, in which is set what the earlier ones exported.
func (p *pageTerminal) command(commands string) *exec.Cmd {
	cmd := exec.Command("bash", "-ec", ". ./exported\n"+commands)
	cmd.Dir, cmd.Env = p.dir, []string{"PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"}
	return cmd
}

func fileName(address string) string { return unfit.ReplaceAllString(address, "-") }

// varied replaces what differs from run to run by placeholders.
func varied(text string) string {
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, v.by)
	}
	text = regexp.MustCompile(`\b20\d\d-\d\d-\d\dT[\d:.]+Z`).ReplaceAllString(text, "TIME")
	return regexp.MustCompile(`(?m)\b\d+ s\.$`).ReplaceAllString(text, "T s.")
}
