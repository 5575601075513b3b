package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/harness"
)

// On a running server, accept removes its chroot when it ends, and when it is interrupted.
func TestAcceptLeavesNothing(t *testing.T) {
	server := harness.ForTest(t, harness.TestBackend(), harness.Options{})
	conn, _, err := zk.Connect([]string{server.Address()}, 10*time.Second, zk.WithLogInfo(false))
	must(t, err)
	defer conn.Close()
	accept := func(args ...string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
		var stdout, stderr bytes.Buffer
		cmd := exec.Command("mrtq", append([]string{"accept", "--backend", server.Address()}, args...)...)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		return cmd, &stdout, &stderr
	}
	alone := func() {
		t.Helper()
		if names, _, err := conn.Children("/"); err != nil || len(names) != 1 { // zookeeper
			t.Errorf("left behind: %v %v", names, err)
		}
	}

	junit := filepath.Join(t.TempDir(), "accept.xml")
	cmd, stdout, stderr := accept("--tags", "@J9", "--out", junit)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	if got, want := stderr.String(), "Accept: passed. 3 scenarios in both dialects; 2 of 153 rows covered.\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := stdout.String(); !strings.Contains(got, "3 scenarios (3 passed)") {
		t.Errorf("%s", got)
	}
	if xml, err := os.ReadFile(junit); err != nil || !bytes.HasPrefix(xml, []byte("<?xml")) || !bytes.Contains(xml, []byte(`tests="3"`)) {
		t.Errorf("%v\n%s", err, xml)
	}
	alone()

	cmd, _, stderr = accept()
	_, _, created, err := conn.ChildrenW("/")
	must(t, err)
	must(t, cmd.Start())
	<-created // its chroot
	must(t, cmd.Process.Signal(os.Interrupt))
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exit.Interrupted {
		t.Errorf("%v, %s", err, stderr)
	}
	alone()

	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--tags", "J9"}, `mrtq: --tags: tags "J9": expected tags such as @J9, with , for or, && for and, ~ for not: "@J9,@J10 && ~@mrt-zk"` + "\n"},
		{[]string{"--tags", "@nobody"}, "mrtq: --tags: the tags select no scenario\n"},
	} {
		cmd, _, stderr := accept(c.args...)
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != exit.Usage || stderr.String() != c.want {
			t.Errorf("%v: %v\ngot  %swant %s", c.args, err, stderr, c.want)
		}
	}
	alone()
}

// The scenarios of the migration run this executable, on any server, and leave nothing at an
// address.
func TestAcceptMigration(t *testing.T) {
	server := harness.ForTest(t, harness.TestBackend(), harness.Options{})
	conn, _, err := zk.Connect([]string{server.Address()}, 10*time.Second, zk.WithLogInfo(false))
	must(t, err)
	defer conn.Close()
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"--scenarios migration --tags @M1,@M2", "Accept: passed. 2 scenarios of the migration.\n", 0},
		{"--scenarios services --tags @D5", "Accept: passed. 1 scenario of the services.\n", 0},
		{"--scenarios migration --tags @M12", "the tags select no scenario\n", 2}, // it kills the server
		{"--scenarios migration --dialect design", "mrtq: --dialect can only be used with --scenarios queue\n", 2},
	} {
		var stdout, stderr bytes.Buffer
		cmd := exec.Command("mrtq", append([]string{"accept", "--backend", server.Address()}, strings.Fields(c.args)...)...)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run() // its exit code says more
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.HasSuffix(stdout.String()+stderr.String(), c.want) {
			t.Errorf("%s: exit code %d\n%s\n%s\nwant %d, %s", c.args, code, stdout.String(), stderr.String(), c.code, c.want)
		}
	}
	if names, _, err := conn.Children("/"); err != nil || len(names) != 1 { // zookeeper
		t.Errorf("left behind: %v %v", names, err)
	}
}
