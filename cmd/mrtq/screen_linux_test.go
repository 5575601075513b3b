package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// The tables of these commands fit on a terminal of 80 columns. -update writes
// the screens, testdata/screen/NAME, in which \e is the escape character.
func TestScreens(t *testing.T) {
	corpus, err := os.ReadFile("testdata/legacy.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "legacy.ndjson"), corpus, 0o600); err != nil {
		t.Fatal(err)
	}
	quiet := terminalRun{columns: 80, dataOnly: true}
	// The target that verify and status read.
	if text, err := quiet.run(t, dir, "migrate", "file:legacy.ndjson", "file:new.ndjson", "--new-queue", "--dialect", "design", "--undecodable", "quarantine", "--consumed", "failed"); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	lines := strings.SplitAfter(string(corpus), "\n")
	for i, line := range lines { // a source that isn't what it was
		if strings.Contains(line, `"/ingest/mrtQ-05000000000001"`) {
			lines = append(lines[:i], lines[i+1:]...)
			break
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "later.ndjson"), []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string]string{
		"inspect": "inspect file:legacy.ndjson",
		"plan":    "plan file:legacy.ndjson file:other.ndjson --new-queue --dialect mrt-zk",
		"verify":  "verify file:later.ndjson file:new.ndjson",
		"status":  "status file:new.ndjson",
		"legacy":  "status file:new.ndjson file:later.ndjson",
		"states":  "states",
	} {
		t.Run(name, func(t *testing.T) {
			text, err := quiet.run(t, dir, strings.Fields(args)...)
			if text == "" {
				t.Fatalf("nothing on the screen: %v", err)
			}
			got := visible(text)
			for line := range strings.Lines(escapes.ReplaceAllString(got, "")) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 && tableLine.MatchString(line) {
					t.Errorf("%d columns wide: %s", n, line)
				}
			}
			golden(t, "testdata/screen/"+name, got)
		})
	}
}

var (
	escapes   = regexp.MustCompile(`\\e\[[0-9;]*m`)
	tableLine = regexp.MustCompile(`^    \S`)
)

// visible is what a terminal got, with \e for the escape character.
func visible(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\x1b", `\e`)
	text = today.ReplaceAllString(text, "STARTED-------------") // as wide
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, v.by)
	}
	return text
}

// today matches times of today. Those of the corpus have milliseconds.
var today = regexp.MustCompile(`2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// The last line has the colour of its tone. If NO_COLOR is set, or the terminal has no
// colours, nothing is coloured.
func TestVerdictOnTerminal(t *testing.T) {
	dir := t.TempDir()
	corpus, err := filepath.Abs("testdata/legacy.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"inspect file:" + corpus + " --status held", "\x1b[32mInspect: 1 record: 1 decoded, 0 not.\x1b[0m\r\n"},
		{"inspect file:" + corpus, "\x1b[33mInspect: 21 records: 12 decoded, 9 not.\x1b[0m\r\n"},
		{"plan file:" + corpus + " file:new.ndjson --new-queue --dialect design", "\x1b[31mPlan: 9 to create, 1 to skip, 11 to decide. Not ready: decide: 11 records. Next, once you have decided: mrtq plan file:" + corpus + " file:new.ndjson --new-queue --dialect design --consumed 'held|pending|failed' --undecodable quarantine\x1b[0m\r\n"},
		{"inspect file:nowhere.ndjson", "\x1b[31mmrtq: file:nowhere.ndjson: no such file or directory; check the path\x1b[0m\r\n"},
		{"accept --tags @J9 -v", "\x1b[32mAccept: 3 scenarios in both dialects passed; 2 of 154 rows covered.\x1b[0m\r\n"},
	} {
		text, _ := terminalRun{columns: 80}.run(t, dir, strings.Fields(c.args)...)
		if !strings.HasSuffix(text, c.want) {
			t.Errorf("%s: the screen ends with %q, want %q", c.args, text[max(0, len(text)-len(c.want)-20):], c.want)
		}
		for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
			text, _ := terminalRun{columns: 80, env: []string{env}}.run(t, dir, strings.Fields(c.args)...)
			if strings.Contains(text, "\x1b[") {
				t.Errorf("%s with %s: %q", c.args, env, text)
			}
		}
	}
}
