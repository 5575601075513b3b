//go:build unix

package minizk_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// notServed are the tests of go-zookeeper that fail on minizk, and why.
var notServed = map[string]string{
	"TestIntegration_IncrementalReconfig": "minizk has no ensembles to reconfigure",
	"TestIntegration_Reconfig":            "minizk has no ensembles to reconfigure",
}

// gozookeeperList is the file that names all tests of go-zookeeper, with their subtests.
var gozookeeperList = filepath.Join("testdata", "foreign", "gozookeeper.txt")

// TestGoZookeepersOwnTests runs go-zookeeper's own tests with minizk as their servers. All must
// pass except those in notServed, which must fail. The tests must be exactly those in
// gozookeeperList (-update writes it). They come from Go's module cache, where our go.mod has put
// them.
func TestGoZookeepersOwnTests(t *testing.T) {
	dir := t.TempDir()
	suite := filepath.Join(dir, "zk.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", suite, "github.com/go-zookeeper/zk")
	build.Env = append(os.Environ(), "GOPROXY=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, serverScript)); err != nil {
		t.Fatal(err)
	}
	servers := startEnsembles(t)
	names, err := exec.CommandContext(t.Context(), suite, "-test.list", "^Test").Output()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	got := map[string]string{}
	var done sync.WaitGroup
	slots := make(chan struct{}, 8) // they mostly wait
	for _, name := range strings.Fields(string(names)) {
		slots <- struct{}{}
		done.Go(func() {
			defer func() { <-slots }()
			results := runAlone(t, suite, servers, name)
			mu.Lock()
			defer mu.Unlock()
			maps.Copy(got, results)
		})
	}
	done.Wait()

	passed := 0
	for _, name := range slices.Sorted(maps.Keys(got)) {
		why, known := notServed[name]
		switch {
		case got[name] == "PASS":
			passed++
			if known {
				t.Errorf("%s passes: take it out of notServed (%s)", name, why)
			}
		case !known:
			t.Errorf("%s: %s", name, got[name])
		}
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if claim := fmt.Sprintf("Of %d tests and subtests %d pass", len(got), passed); !strings.Contains(string(readme), claim) {
		t.Errorf("README.md does not say: %s", claim)
	}
	list := strings.Join(slices.Sorted(maps.Keys(got)), "\n") + "\n"
	if *update {
		if err := os.WriteFile(gozookeeperList, []byte(list), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(gozookeeperList)
	if err != nil {
		t.Fatal(err)
	}
	sameLines(t, list, string(want))
}

var result = regexp.MustCompile(`(?m)^ *--- (PASS|FAIL|SKIP): (\S+)`)

// tries is how often a test must fail before it counts as failed. Some tests have races on any
// server, and they choose their servers' ports at random.
const tries = 3

// runAlone runs one of the suite's tests, and returns the results of the test and its subtests.
func runAlone(t *testing.T, suite string, servers *ensembles, name string) map[string]string {
	results := map[string]string{}
	for try := range tries {
		ctx, cancel := context.WithTimeout(t.Context(), foreignTimeout)
		cmd := exec.CommandContext(ctx, suite, "-test.run", "^"+name+"$", "-test.v")
		cmd.Dir = filepath.Dir(suite)
		// Some of them check the release before they run.
		cmd.Env = append(os.Environ(), "ZOOKEEPER_BIN_PATH="+cmd.Dir, "ZK_VERSION=3.8.0", ensemblesVariable+"="+servers.l.Addr().String())
		out, err := cmd.CombinedOutput()
		cancel()
		clear(results)
		results[name] = fmt.Sprint(err) // unless it reports its own result
		for _, m := range result.FindAllStringSubmatch(string(out), -1) {
			results[m[2]] = m[1]
		}
		if err == nil || notServed[name] != "" {
			break
		}
		t.Logf("%s, try %d: %v\n%s", name, try+1, err, out)
	}
	return results
}
