package main

import (
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/rogpeppe/go-internal/testscript"

	"mrtq/harness"
	"mrtq/legacy"
)

var update = flag.Bool("update", false, "rewrite what the scripts expect")

// TestMain runs eight tests at once, because most of them wait for a server or for time to
// pass. -parallel sets another number.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"mrtq": main, "granted": granted})
}

// TestScripts runs the command on dumps.
func TestScripts(t *testing.T) {
	t.Parallel()
	runScripts(t, "testdata/script", "")
}

// TestServerScripts runs the command on a real server, each script in its own chroot.
func TestServerScripts(t *testing.T) {
	t.Parallel()
	server := harness.ForTest(t, harness.TestBackend(), harness.Options{})
	runScripts(t, "testdata/server", server.Address())
}

// runScripts runs the scripts of a folder. Each finds the corpus in legacy.ndjson and
// legacy.expected.ndjson. If there is a server, $ZK is its connect string with the script's own chroot,
// and $SERVER that without a chroot.
func runScripts(t *testing.T, dir, server string) {
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		UpdateScripts:       *update,
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exitcode": wantExitCode,
			"says":     says,
			"until":    until,
			"record":   record,
			"znode":    znodeCommand,
		},
		Setup: func(env *testscript.Env) error {
			for _, name := range []string{"legacy.ndjson", "legacy.expected.ndjson"} {
				data, err := os.ReadFile(filepath.Join("testdata", name))
				if err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(env.WorkDir, name), data, 0o600); err != nil {
					return err
				}
			}
			// With the race detector, a process sleeps for a second before it ends.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			deployed, err := filepath.Abs("../../features/testdata/deployed.ndjson")
			if err != nil {
				return err
			}
			env.Setenv("DEPLOYED", deployed)
			env.Setenv("JAVA_HOME", os.Getenv("JAVA_HOME"))
			env.Setenv("ZOOKEEPER_HOME", os.Getenv("ZOOKEEPER_HOME"))
			if server == "" {
				return nil
			}
			chroot := "/" + strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")
			env.Setenv("SERVER", server)
			env.Setenv("ZK", server+chroot)
			env.Setenv("CREDENTIAL", "digest:"+credential)
			env.Setenv("ACL", "digest:"+zk.DigestACL(zk.PermAll, "operator", password)[0].ID+":cdrwa")
			session, err := openTestSession(server, chroot)
			if err != nil {
				return err
			}
			env.Values[testSessionKey{}] = session
			env.Defer(session.conn.Close)
			return nil
		},
	})
}

// varying matches what differs from run to run in what mrtq prints.
var varying = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`\d+\.\d s\b`), "T s"},
	{regexp.MustCompile(`"seconds": [\d.e-]+`), `"seconds": "T"`},
	{regexp.MustCompile(`mrtq-(quarantine|removed)-[0-9.]+-\d+-\w+-new`), "mrtq-$1-CHROOT-new"},
	{regexp.MustCompile(`"owner": "[^"]*"`), `"owner": "OWNER"`},
	{regexp.MustCompile(`(run\d{10})-[a-z2-7]{8}\b`), "$1-UNIQUE"},
	// The times of the corpus are of other days.
	{regexp.MustCompile(`(` + time.Now().UTC().Format(time.DateOnly) + `|` + time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly) + `)T[\d:.]+Z`), "TIME"}, // midnight may come
	{regexp.MustCompile(`"zxid": [1-9]\d*`), `"zxid": "N"`},
	{regexp.MustCompile(`\(at byte \d+\): the dump lacks`), "(at byte N): the dump lacks"}, // after Stats, whose numbers have more or fewer digits
	{regexp.MustCompile(`the host name (\S+) could not be looked up, because the name server did not answer; check`), "there is no host $1; check"},
}

// comparableText replaces the server, the script's folder, and what varies by placeholders.
func comparableText(ts *testscript.TestScript, text string) string {
	for _, name := range []string{"ZK", "SERVER", "WORK"} {
		if value := ts.Getenv(name); value != "" {
			text = strings.ReplaceAll(text, value, name)
		}
	}
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, v.by)
	}
	return text
}

// says is the command "says N COMMAND [ARG…]". It checks the exit code, and keeps as stdout
// what was printed, with placeholders for what varies: first stdout, then the lines of stderr
// with 2> before each. "cmp stdout FILE" compares it, and go test -update rewrites FILE.
func says(ts *testscript.TestScript, neg bool, args []string) {
	stdout, stderr := runCode(ts, neg, args)
	var b strings.Builder
	b.WriteString(stdout)
	if stdout != "" && !strings.HasSuffix(stdout, "\n") {
		b.WriteString("\n")
	}
	for line := range strings.Lines(stderr) {
		b.WriteString("2> " + line)
	}
	io.WriteString(ts.Stdout(), b.String())
}

// wantExitCode is the command "exitcode N COMMAND [ARG…]". It checks the exit code, and
// keeps what was printed as stdout and stderr, with placeholders for what varies. Scripts
// that need the exact bytes use exec.
func wantExitCode(ts *testscript.TestScript, neg bool, args []string) {
	stdout, stderr := runCode(ts, neg, args)
	io.WriteString(ts.Stdout(), stdout)
	io.WriteString(ts.Stderr(), stderr)
}

// until is the command "until PATTERN COMMAND [ARG…]". It runs the command again and again,
// until its stdout matches.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until PATTERN COMMAND [ARG…]")
	}
	pattern, err := regexp.Compile(args[0])
	ts.Check(err)
	for late := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		_ = ts.Exec(args[1], args[2:]...)
		if pattern.MatchString(ts.ReadFile("stdout")) {
			return
		}
		if time.Now().After(late) {
			ts.Fatalf("stdout does not match %s", pattern)
		}
	}
}

func runCode(ts *testscript.TestScript, neg bool, args []string) (stdout, stderr string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N COMMAND [ARG…]")
	}
	code := 0
	err := ts.Exec(args[1], args[2:]...)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	stdout, stderr = comparableText(ts, ts.ReadFile("stdout")), comparableText(ts, ts.ReadFile("stderr"))
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, expected %s\n%s%s", code, args[0], stdout, stderr)
	}
	return stdout, stderr
}

// record is the command "record FILE PATH STATUS PAYLOAD [TIMES]". It adds a record to a
// dump. Its payload is the text, TIMES times.
func record(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: record FILE PATH STATUS PAYLOAD [TIMES]")
	}
	status, err := legacy.ParseStatus(args[2])
	ts.Check(err)
	times := 1
	if len(args) > 4 {
		times, err = strconv.Atoi(args[4])
		ts.Check(err)
	}
	written := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	data := legacy.AppendHeader(nil, legacy.NewHeader(status, written, legacy.Milliseconds))
	data = append(data, strings.Repeat(args[3], times)...)
	line, err := json.Marshal(map[string]any{"path": args[1], "data": data})
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	ts.Check(err)
	defer f.Close()
	_, err = f.Write(append(line, '\n'))
	ts.Check(err)
}

func value[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		must(t, err)
		return v
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
