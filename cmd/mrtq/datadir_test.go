package main

import (
	"cmp"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mrtq/harness"
)

// TestCopyOfADataDirectory does what docs/commands.md says of a data directory, with that of a server that runs.
func TestCopyOfADataDirectory(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	server := harness.ForTest(t, harness.JVM, harness.Options{})
	const installed = "/usr/share/zookeeper"
	home := cmp.Or(os.Getenv("ZOOKEEPER_HOME"), installed)
	if _, err := os.Stat(filepath.Join(home, "bin", "zkServer.sh")); err != nil {
		t.Fatal("the server's jars are here, but not its script; install Debian's package zookeeper: ", err)
	}
	page := value(os.ReadFile("../../docs/commands.md"))(t)
	_, rest, _ := strings.Cut(string(page), "\n## A data directory\n")
	_, rest, _ = strings.Cut(rest, "\n```sh\n")
	commands, _, ok := strings.Cut(rest, "\n```\n")
	if !ok {
		t.Fatal("the page has no commands")
	}
	host, chroot, _ := strings.Cut(server.Address(), "/")
	if chroot != "" {
		t.Fatalf("a server in %s", chroot)
	}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("mrtq", args...)
		cmd.Dir = dir
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("mrtq %s: %v: %s", strings.Join(args, " "), err, said.String())
		}
		return string(out)
	}
	in := value(filepath.Abs("testdata/legacy.ndjson"))(t)
	run("restore", host, "--in", in)
	want := run("dump", host)

	// A port that no other test gets meanwhile: those of their servers are above.
	port := ""
	for port == "" {
		at := strconv.Itoa(12000 + rand.IntN(8000))
		if free, err := net.Listen("tcp", "127.0.0.1:"+at); err == nil {
			free.Close()
			port = at
		}
	}
	commands = strings.NewReplacer("/var/lib/zookeeper", value(filepath.Glob(filepath.Join(dir, "mrtq-zk-*", "server.1")))(t)[0], installed, home, "2282", port).Replace(commands)
	shell := exec.Command("sh", "-ec", commands)
	shell.Dir = dir
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must(t, shell.Start())
	defer func() {
		_ = syscall.Kill(-shell.Process.Pid, syscall.SIGKILL)
		_ = shell.Wait()
	}()
	if got := run("dump", "localhost:"+port, "--timeout", (30 * time.Second).String()); got != want {
		t.Errorf("the copy has\n%s\nexpected\n%s", got, want)
	}
}
