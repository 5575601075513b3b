package minizk_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"mrtq/harness/minizk"
)

// The conformance suite is the scripts in testdata/transcripts, with the answers that the real
// server gave (-update). Each runs on a real ZooKeeper and on minizk, and both must give these answers.

// untouched is the scenario that needs a server with the default configuration.
const untouched = "untouched_server"

func eachTranscript(t *testing.T, f func(t *testing.T, name, file, transcript string)) {
	files := value(filepath.Glob(filepath.Join("testdata", "transcripts", "*.txt")))(t)
	if len(files) == 0 {
		t.Fatal("no transcripts")
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		t.Run(name, func(t *testing.T) { f(t, name, file, string(value(os.ReadFile(file))(t))) })
	}
}

func again(transcript string) func(*world) { return func(w *world) { w.run(transcript) } }

// TestConformance compares minizk with the recorded answers of the real server. It needs only Go.
func TestConformance(t *testing.T) {
	eachTranscript(t, func(t *testing.T, name, _, transcript string) {
		opt := minizk.Options{NoExtendedTypes: name == untouched, SuperDigest: superDigest}
		if name == "reaping" {
			opt.ContainerInterval = reaping.reap
		}
		sameLines(t, play(t, onMini(run(t, opt)), again(transcript)), transcript)
	})
}

var waiting = []string{"expiry", "reaping", untouched}

// TestConformanceReal compares the real server with its transcripts, or records them. The scenarios
// of waiting run only with -torture or -update.
func TestConformanceReal(t *testing.T) {
	eachTranscript(t, func(t *testing.T, name, file, transcript string) {
		if slices.Contains(waiting, name) && !*torture && !*update {
			return
		}
		server := real38
		switch name {
		case "reaping":
			server = reaping
		case untouched:
			server = &realServer{reap: time.Hour, plain: true}
			defer func() { must(t, server.stop()) }()
		}
		got := play(t, onReal(server.addr(t)), again(transcript))
		if *update {
			must(t, os.WriteFile(file, []byte(got), 0o644))
		}
		sameLines(t, got, string(value(os.ReadFile(file))(t)))
	})
}

func sameLines(t tb, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i, left := 0, 10; i < max(len(g), len(w)) && left > 0; i++ {
		a, b := "(nothing)", "(nothing)"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			left--
			t.Errorf("line %d\n got %s\nwant %s", i+1, a, b)
		}
	}
}

var number = regexp.MustCompile(`0x[0-9a-f]+|[A-Z][a-z]{2} [A-Z][a-z]{2} [0-9: ]+ UTC [0-9]+|-?[0-9]+([.:][0-9]+)*`)

// sidPattern matches a session of cons.
var sidPattern = regexp.MustCompile(`sid=(0x[0-9a-f]+),lop`)

// monitored are the lines of mntr that minizk has; a real server has hundreds.
var monitored = []string{
	"zk_server_state", "zk_znode_count", "zk_ephemerals_count", "zk_approximate_data_size", "zk_watch_count",
	"zk_num_alive_connections", "zk_global_sessions", "zk_outstanding_requests", "zk_packets_received", "zk_packets_sent",
	"zk_min_latency", "zk_avg_latency", "zk_max_latency", "zk_uptime",
}

func sessionID(hexadecimal string) int64 {
	id, _ := strconv.ParseInt(hexadecimal, 0, 64) // 0 is no session
	return id
}

// word sends a four-letter word and records the answer line by line, without numbers.
func (w *world) word(word string) {
	w.t.Helper()
	c := w.dial(word)
	if err := errors.Join(c.c.SetDeadline(time.Now().Add(sessionTimeout)), errorOf(c.c.Write([]byte(word)))); err != nil {
		w.t.Fatal(err)
	}
	answer, err := io.ReadAll(c.c)
	if err != nil {
		w.t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(answer)) {
		line = strings.TrimSuffix(line, "\n")
		key, _, _ := strings.Cut(line, "\t")
		sid := sidPattern.FindStringSubmatch(line)
		if strings.HasPrefix(line, "Zookeeper version") || word == "mntr" && !slices.Contains(monitored, key) || sid != nil && w.sessions[sessionID(sid[1])] == "" {
			continue // a session of no client of the scenario
		}
		if key, folder, _ := strings.Cut(line, "="); strings.HasPrefix(folder, "/") { // minizk has none
			line = key + "="
		}
		lines = append(lines, fmt.Sprintf("\t%q", number.ReplaceAllString(line, "N")))
	}
	switch word {
	case "mntr", "cons":
		slices.Sort(lines) // a hash table's order
	case "dump": // one line for all sessions, and for all times
		seen := map[string]bool{}
		lines = slices.DeleteFunc(lines, func(line string) bool {
			again := seen[line]
			seen[line] = true
			return again
		})
	}
	w.lines = append(w.lines, slices.Compact(lines)...) // one line for all clients
}
