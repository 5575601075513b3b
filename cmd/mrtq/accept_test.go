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

	"mrtq/harness"
	"mrtq/internal/report"
)

// TestAcceptLeavesNothing: on somebody's server, the chroot that accept made is
// gone when it has ended, and when it was interrupted.
func TestAcceptLeavesNothing(t *testing.T) {
	server := harness.ForTest(t, harness.TestBackend(), harness.Options{})
	conn, _, err := zk.Connect([]string{server.Address()}, 10*time.Second, zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
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
	covered := filepath.Join(t.TempDir(), "coverage.json")
	cmd, stdout, stderr := accept("--tags", "@J9", "--format", "junit", "--out", junit, "--coverage", covered)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	const want = `Coverage
id what                     design mrt-zk
J9 job downloading → failed passed passed
`
	if got := strings.TrimRight(stdout.String(), "\n") + "\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := stderr.String(); got != "3 scenarios in both dialects passed; 2 of 154 rows covered\n" {
		t.Errorf("stderr: %s", got)
	}
	xml, err := os.ReadFile(junit)
	if err != nil || !bytes.Contains(xml, []byte(`tests="3"`)) {
		t.Errorf("%v\n%s", err, xml)
	}
	coverage, err := fromFile("--accept", covered, report.ReadCoverage)
	if err != nil || len(coverage.Rows) != 154 || coverage.Count(report.CoveragePassed) != 2 || coverage.In("design").Count(report.CoveragePassed) != 1 {
		t.Errorf("--coverage: %+v, %v", coverage, err)
	}
	alone()

	cmd, _, stderr = accept()
	_, _, created, err := conn.ChildrenW("/")
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-created // its chroot
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitEnv {
		t.Errorf("%v, %s", err, stderr)
	}
	alone()

	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--tags", "J9"}, `mrtq: --tags: tags "J9": want tags such as @J9, with , for or, && for and, ~ for not: "@J9,@J10 && ~@mrt-zk"` + "\n"},
		{[]string{"--tags", "@nobody"}, "mrtq: --tags: the tags select no scenario\n"},
	} {
		cmd, _, stderr := accept(c.args...)
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != exitUsage || stderr.String() != c.want {
			t.Errorf("%v: %v\ngot  %swant %s", c.args, err, stderr, c.want)
		}
	}
	alone()
}
