package minizk_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mrtq/harness/minizk"
)

// scenarios is the conformance suite. Each scenario runs on a real ZooKeeper and on minizk. Both
// must give the transcript in testdata, which the real server wrote (-update).
var scenarios = map[string]func(*world){}

// untouched is the scenario that needs a server with the default configuration.
const untouched = "untouched_server"

func transcriptFile(name string) string {
	return filepath.Join("testdata", "transcripts", name+".txt")
}

// TestConformance compares minizk with the recorded answers of the real server. It needs only Go.
func TestConformance(t *testing.T) {
	if len(scenarios) == 0 {
		t.Fatal("no scenarios")
	}
	for _, name := range slices.Sorted(maps.Keys(scenarios)) {
		scenario := scenarios[name]
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(transcriptFile(name))
			if err != nil {
				t.Fatalf("%v: record it with go test -run TestConformanceReal -update", err)
			}
			opt := minizk.Options{NoExtendedTypes: name == untouched, SuperDigest: digest(superSecret)}
			if name == "reaping" {
				opt.ContainerInterval = reaping.reap
			}
			s := run(t, opt)
			sameLines(t, play(t, onMini(s), scenario), string(want))
		})
	}
}

// waiting are the scenarios that wait for a real server's clock, or need a server of their own.
var waiting = []string{"expiry", "reaping", untouched}

// TestConformanceReal compares the real server with its transcripts, or records them. The scenarios
// of waiting run only with -torture or -update.
func TestConformanceReal(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(scenarios)) {
		scenario := scenarios[name]
		if slices.Contains(waiting, name) && !*torture && !*update {
			continue
		}
		t.Run(name, func(t *testing.T) {
			server := real38
			switch name {
			case "reaping":
				server = reaping
			case untouched:
				server = &realServer{reap: time.Hour, plain: true}
				defer func() {
					if err := server.stop(); err != nil {
						t.Error(err)
					}
				}()
			}
			got := play(t, onReal(server.addr(t)), scenario)
			if *update {
				must(t, os.MkdirAll(filepath.Dir(transcriptFile(name)), 0o755))
				must(t, os.WriteFile(transcriptFile(name), []byte(got), 0o644))
			}
			want := value(os.ReadFile(transcriptFile(name)))(t)
			sameLines(t, got, string(want))
		})
	}
}

// TestTranscriptsHaveScenarios: there is a scenario for each transcript. If a scenario was renamed,
// its old transcript must be deleted.
func TestTranscriptsHaveScenarios(t *testing.T) {
	files, err := filepath.Glob(transcriptFile("*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts (%v)", err)
	}
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".txt"); scenarios[name] == nil {
			t.Errorf("%s has no scenario", f)
		}
	}
}

// sameLines reports the first lines that differ.
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
