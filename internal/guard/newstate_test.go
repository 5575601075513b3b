package guard_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var torture = flag.Bool("torture", false, "add a state to a copy of the project")

// newState are the changes that add a state of a job, verifying, between recording and notify in dialect design: by the file,
// what stands there and what it becomes.
var newState = []struct{ file, old, new string }{
	{"newqueue/states/states.go", "\tNotify          = \"notify\"\n", "\tVerifying       = \"verifying\"\n\tNotify          = \"notify\"\n"},
	{"newqueue/states/states.go", "Recording, Notify,", "Recording, Verifying, Notify,"},
	{"newqueue/states/jobs.go", `	{"J12", Recording, Notify, Worker, LSSLeft, RetrySame, EntryMoved, EntryKept, NodesKept, "", "", both},
`, `	{"J12", Recording, Notify, Worker, LSSLeft, RetrySame, EntryMoved, EntryKept, NodesKept, "", "", mrtZKOnly},
	{"J24", Recording, Verifying, Worker, LSSLeft, RetrySame, EntryMoved, EntryKept, NodesKept, "", "", designOnly},
	{"J25", Verifying, Notify, Worker, LSSLeft, RetrySame, EntryMoved, EntryKept, NodesKept, "", "", designOnly},
	{"J26", Verifying, Failed, Worker, LSSSame, RetrySame, EntryMoved, EntryMoved, NodesKept, "", "", designOnly},
`},
	{"newqueue/states/jobs.go", `	{"J19", Failed, Notify,`, `	{"J27", Failed, Verifying, Admin, LSSSame, RetryNext, EntryMoved, EntryMoved, NodesKept, OnceStepped, "", designOnly},
	{"J19", Failed, Notify,`},
	{"newqueue/state.go", "\tJobNotify       JobState = states.Notify\n", "\tJobVerifying    JobState = states.Verifying // dialect design only\n\tJobNotify       JobState = states.Notify\n"},
	{"internal/layout/merritt/merritt.yaml", "dialects: [design], values: [pending, held, estimating, provisioning, downloading, processing, recording, notify,", "dialects: [design], values: [pending, held, estimating, provisioning, downloading, processing, recording, verifying, notify,"},
	{"features/job.feature", "  @J14\n", `  @J24 @design
  Scenario: What was recorded is verified
    Given a recording job that a worker has acquired
    When the worker succeeds
    Then the job is verifying
    And its last successful status is recording
    And the lock is released
    And nothing else has changed

  @J25 @design
  Scenario: It is as it was recorded
    Given a verifying job that a worker has acquired
    When the worker succeeds
    Then the job is notify
    And its last successful status is verifying
    And the lock is released
    And nothing else has changed

  @J26 @design
  Scenario: It is not as it was recorded
    Given a verifying job that a worker has acquired
    When the worker fails it with the message "no"
    Then the job is failed with the message "no"
    And in its batch it moves from processing to failed
    And the lock is released
    And nothing else has changed

  @J27 @design
  Scenario: An administrator resumes it there
    Given a failed job whose last successful status is recording
    When an administrator resumes the job
    Then the job is verifying
    And in its batch it moves from failed to processing
    And its retry count is one more
    And nothing else has changed

  @J14
`},
}

// TestNewState adds a state of a job to a copy of the project, by changing only the files that CONTRIBUTING.md
// names. Then the simulated workers work through it, the map knows it, and the acceptance suite covers its rows.
func TestNewState(t *testing.T) {
	if !*torture {
		t.Skip("it compiles a copy of the project: go test ./internal/guard -run TestNewState -torture")
	}
	page := value(os.ReadFile("CONTRIBUTING.md"))(t)
	row := regexp.MustCompile(`(?m)^\| a new state of a job \|.*$`).FindString(string(page))
	copied := t.TempDir()
	run := func(dir, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run(".", "sh", "-c", "git ls-files -z | xargs -0 cp --parents -t "+copied)
	for _, c := range newState {
		if !strings.Contains(row, "`"+c.file+"`") && !strings.Contains(row, "`"+filepath.Dir(c.file)+"`") {
			t.Errorf("the row of CONTRIBUTING.md does not name %s: %s", c.file, row)
		}
		path := filepath.Join(copied, c.file)
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), c.old) {
			t.Fatalf("%s has no %q (%v)", c.file, c.old, err)
		}
		must(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(text), c.old, c.new)), 0o644))
	}
	run(copied, "go", "build", "./...")
	run(copied, "go", "test", "./newqueue", "./internal/layout/...", "./features")
	run(copied, "go", "test", "./harness/rehearse", "-run", "TestFindsNoMore")
	out := run(copied, "go", "run", "./cmd/mrtq", "accept", "--dialect", "design", "--tags", "~@S7 && ~@S9 && ~@S11 && ~@J12 && ~@J15 && ~@J19")
	for _, line := range slices.Collect(strings.Lines(out)) {
		if strings.HasPrefix(line, "Accept: ") && !strings.Contains(line, "Accept: passed. ") {
			t.Error(line)
		}
	}
}
