package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"mrtq/legacy"
)

// TestScreens has what an operator sees on the night, command after command, on terminals of 80 and
// of 120 columns. Nothing is wider than the terminal but the commands that can be pasted. -update
// writes the screens, testdata/screen/COLUMNS, in which \e is the escape character.
func TestScreens(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{80, 120} {
		t.Run(strconv.Itoa(columns), func(t *testing.T) {
			t.Parallel()
			var all strings.Builder
			dir := screenFiles(t)
			for _, command := range screens {
				if columns != 80 && strings.HasPrefix(command, "mrtq rehearse") {
					continue // it takes time, and shows nothing that others don't
				}
				if script, is := strings.CutPrefix(command, "sh "); is {
					sh := exec.Command("sh", script)
					if sh.Dir = dir; sh.Run() != nil {
						t.Fatal(command)
					}
					all.WriteString("$ " + command + "\n\n")
					continue
				}
				text, _ := terminalRun{columns: columns}.run(t, dir, words(command)...)
				got := took.ReplaceAllString(visible(shownOn(strings.ReplaceAll(text, "\r\n", "\n"))), "T s.")
				for line := range strings.Lines(escapes.ReplaceAllString(got, "")) {
					line = strings.TrimSuffix(line, "\n")
					if utf8.RuneCountInString(line) > columns && !strings.HasPrefix(strings.TrimLeft(line, " "), "mrtq ") {
						t.Errorf("%s: wider than the terminal: %s", command, line)
					}
				}
				all.WriteString("$ " + command + "\n" + got + "\n")
			}
			golden(t, "testdata/screen/"+strconv.Itoa(columns), all.String())
		})
	}
}

// screens are the commands of TestScreens, in this order. corpus.ndjson has every kind of record, good
// and bad; queue.ndjson is a queue that the deployed services could work, and gets the new queue, too. With workers.sh, a legacy
// worker takes a record, another record is gone, and a client submits one.
var screens = strings.Split(strings.TrimSpace(`
mrtq inspect file:corpus.ndjson
mrtq plan file:corpus.ndjson file:none.ndjson --new-queue --dialect mrt-zk
mrtq rehearse file:queue.ndjson --dialect mrt-zk --consumed held --failed held
mrtq plan file:queue.ndjson file:queue.ndjson --new-queue --dialect mrt-zk --failed held --out plan.json
mrtq migrate --plan plan.json
mrtq plan file:queue.ndjson file:queue.ndjson --failed held
mrtq verify file:queue.ndjson
mrtq check file:queue.ndjson
mrtq status file:queue.ndjson
sh workers.sh
mrtq status file:queue.ndjson
mrtq verify file:queue.ndjson
mrtq hold file:queue.ndjson --only ingest --by alice --why 'disk full'
mrtq release file:queue.ndjson
mrtq release file:queue.ndjson --vanished legacy --workers-stopped 1
mrtq status file:queue.ndjson
mrtq verify file:queue.ndjson
mrtq show file:queue.ndjson jid0000000003
mrtq rollback file:queue.ndjson --dry-run
mrtq rollback file:queue.ndjson --yes
mrtq verify file:queue.ndjson
mrtq status file:queue.ndjson
mrtq complete file:queue.ndjson
mrtq status file:corpus.ndjson
mrtq migrate file:corpus.ndjson file:mistyped.ndjson
`), "\n")

// words are the words of a command, without the program. A quoted one may hold spaces.
func words(command string) (words []string) {
	for _, m := range regexp.MustCompile(`'([^']*)'|(\S+)`).FindAllStringSubmatch(command, -1) {
		words = append(words, m[1]+m[2])
	}
	return words[1:]
}

func screenFiles(t *testing.T) string {
	dir := t.TempDir()
	write := func(name, text string) {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	read := func(path string) string {
		text := value(os.ReadFile(path))(t)
		return string(text)
	}
	queue := read("../../features/testdata/deployed.ndjson")
	write("corpus.ndjson", read("testdata/legacy.ndjson"))
	write("queue.ndjson", queue)
	late, err := json.Marshal(map[string]any{"path": "/ingest/mrtQ-05000000000099", "data": append(legacy.AppendHeader(nil,
		legacy.NewHeader(legacy.Pending, time.Date(2024, 3, 1, 2, 0, 0, 0, time.UTC), legacy.Milliseconds)), `{"jobID":"jid-late","batchID":"bid-late"}`...)})
	must(t, err)
	write("late.ndjson", string(late)+"\n")
	write("workers.sh", `sed -i -e 's#\("/ingest/mrtQ-05000000000001","data":"\)AAAA#\1AQAA#' -e '/mrtQ-05000000000002"/d' queue.ndjson; cat late.ndjson >>queue.ndjson`)
	return dir
}

var took = regexp.MustCompile(`\b\d+ s\.`)

var escapes = regexp.MustCompile(`\\e\[[0-9;]*m`)

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

// The word of the result has the colour of its tone. If NO_COLOR is set, or the terminal has no
// colours, nothing is coloured.
func TestVerdictOnTerminal(t *testing.T) {
	dir := t.TempDir()
	corpus := value(filepath.Abs("testdata/legacy.ndjson"))(t)
	for _, c := range []struct{ args, want string }{
		{"inspect file:" + corpus + " --status held", "Inspect: \x1b[32mdone.\x1b[0m 1 record: 1 decoded, 0 not.\r\n"},
		{"inspect file:" + corpus, "Inspect: \x1b[33mdone.\x1b[0m 21 records: 12 decoded, 9 not.\r\n"},
		{"plan file:" + corpus + " file:new.ndjson --new-queue --dialect design", "Plan: \x1b[31mnot ready.\x1b[0m 9 to create, 3 to skip, 9 to decide; 9 problems.\r\nFirst: decide whether you want --undecodable quarantine.\r\nNext:\r\n  mrtq plan file:" + corpus + " file:new.ndjson --new-queue --dialect design --undecodable quarantine\r\n"},
		{"inspect file:nowhere.ndjson", "\x1b[31mmrtq:\x1b[0m file:nowhere.ndjson: no such file or directory; check the path\r\n"},
		{"accept --tags @J9 -v", "Accept: \x1b[32mpassed.\x1b[0m 3 scenarios in both dialects; 2 of 153 rows covered.\r\n"},
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
