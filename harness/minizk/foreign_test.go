package minizk_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mrtq/harness/minizk"
)

// These tests run other people's clients, with their recipes, on minizk with a real clock. With
// -torture they also run the same scripts on the real server, to check the scripts themselves.

// foreignTimeout limits one client's run.
const foreignTimeout = 3 * time.Minute

// servers runs f on minizk, and with -torture on the real server, too.
func servers(t *testing.T, f func(t *testing.T, addr string)) {
	onMinizk(t, f)
	if *torture {
		onRealServer(t, f)
	}
}

func onMinizk(t *testing.T, f func(t *testing.T, addr string)) {
	t.Run("minizk", func(t *testing.T) {
		f(t, run(t, minizk.Options{RealTime: true}).Addr())
	})
}

// onRealServer runs f on a server of its own, because the nodes of each script have fixed names.
func onRealServer(t *testing.T, f func(t *testing.T, addr string)) {
	t.Run("real", func(t *testing.T) {
		r := &realServer{reap: time.Minute}
		addr := r.addr(t)
		defer func() {
			if err := r.stop(); err != nil {
				t.Error(err)
			}
		}()
		f(t, addr)
	})
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), foreignTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func oks(t *testing.T, out string, parts ...string) {
	t.Helper()
	var got []string
	for line := range strings.Lines(out) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "ok "); ok {
			got = append(got, name)
		}
	}
	if !slices.Equal(got, parts) {
		t.Errorf("passed %v, want %v\n%s", got, parts, out)
	}
}

func TestKazoo(t *testing.T) {
	// Debian's package is for Debian's Python, which need not be the first in PATH.
	python := ""
	for _, candidate := range []string{"python3", "/usr/bin/python3"} {
		if python == "" && exec.Command(candidate, "-c", "import kazoo").Run() == nil {
			python = candidate
		}
	}
	if python == "" {
		missing(t, "install python3 and python3-kazoo")
	}
	servers(t, func(t *testing.T, addr string) {
		out := output(t, python, filepath.Join("testdata", "foreign", "kazoo_client.py"), addr)
		oks(t, out, "basics", "acls", "transactions", "watches", "locks", "queues", "elections", "counters", "barriers", "parties", "words", "restarts")
	})
}

func javaJars(t *testing.T) string {
	t.Helper()
	var path []string
	for _, jar := range []string{"zookeeper", "zookeeper-jute", "zookeeper-recipes-lock", "zookeeper-recipes-queue", "zookeeper-recipes-election", "slf4j-api", "slf4j-nop", "netty-all", "commons-cli"} {
		file := filepath.Join("/usr/share/java", jar+".jar")
		if _, err := os.Stat(file); err != nil {
			missing(t, "install Debian's zookeeper package: no "+file)
		}
		path = append(path, file)
	}
	return strings.Join(path, string(os.PathListSeparator))
}

// TestJavaClient runs a program of ours on Apache's Java client and its recipes.
func TestJavaClient(t *testing.T) {
	jars := javaJars(t)
	for _, tool := range []string{"java", "javac"} {
		if _, err := exec.LookPath(tool); err != nil {
			missing(t, "install Debian's default-jdk-headless: no "+tool)
		}
	}
	classes := t.TempDir()
	output(t, "javac", "-d", classes, "-cp", jars, filepath.Join("testdata", "foreign", "JavaClient.java"))
	servers(t, func(t *testing.T, addr string) {
		out := output(t, "java", "-cp", classes+string(os.PathListSeparator)+jars, "JavaClient", addr)
		oks(t, out, "basics", "acls", "multis", "watches", "locks", "queues", "elections")
	})
}

// TestZkCli types commands into ZooKeeper's own shell on both servers and compares what the shell
// prints. It leaves out what differs from run to run.
func TestZkCli(t *testing.T) {
	cli := "/usr/share/zookeeper/bin/zkCli.sh"
	if _, err := os.Stat(cli); err != nil {
		missing(t, "install Debian's zookeeper package: no "+cli)
	}
	for _, tool := range []string{"bash", "java"} { // which the script needs
		if _, err := exec.LookPath(tool); err != nil {
			missing(t, "install bash and a Java runtime: no "+tool)
		}
	}
	script := []string{
		"create /cli data", "create -s /cli/n- x", "create -e /cli/e", "create -c /cli/c", "create -t 100000 /cli/t", "ls -R /cli", "get /cli",
		"set /cli new", "set -v 0 /cli old", "get -s /cli/n-0000000000", "stat /nope", "getAcl /cli", "setAcl /cli world:anyone:cdrwa", "addauth digest u:p", "getEphemerals /cli",
		"getAllChildrenNumber /cli", "delete /cli", "deleteall /cli", "ls /", "whoami", "sync /", "version", "quit",
	}
	answers := map[string]string{}
	ask := func(t *testing.T, addr string) {
		ctx, cancel := context.WithTimeout(t.Context(), foreignTimeout)
		defer cancel()
		cmd := exec.CommandContext(ctx, cli, "-server", addr)
		cmd.Stdin = strings.NewReader(strings.Join(script, "\n") + "\n")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("zkCli.sh: %v\n%s%s", err, out, stderr.String())
		}
		for _, must := range []string{"Created /cli/n-0000000000", "version No is not valid : /cli", "Node does not exist: /nope"} {
			if !strings.Contains(stderr.String(), must) {
				t.Errorf("%q is not in\n%s", must, stderr.String())
			}
		}
		var kept []string
		for line := range strings.Lines(string(out)) {
			line = strings.TrimRight(strings.ReplaceAll(line, addr, "ADDR"), "\n")
			name, _, _ := strings.Cut(line, " ")
			switch {
			case slices.Contains([]string{"", "ctime", "mtime", "cZxid", "mZxid", "pZxid", "WATCHER::", "WatchedEvent"}, name), strings.Contains(line, "log4j"): // the shell can end before it prints its last event
			default:
				kept = append(kept, line)
			}
		}
		answers[t.Name()[strings.LastIndex(t.Name(), "/")+1:]] = strings.Join(kept, "\n")
	}
	onMinizk(t, ask)
	onRealServer(t, ask)
	if len(answers) == 2 {
		sameLines(t, answers["minizk"], answers["real"])
	}
	if !strings.Contains(answers["minizk"], "\n/cli/n-0000000000\n") {
		t.Errorf("the shell did not list the node that it created:\n%s", answers["minizk"])
	}
}
