package harness

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestFindJVM(t *testing.T) {
	const remedy = "; install Debian's zookeeper and default-jre-headless packages, or set ZOOKEEPER_HOME to an unpacked Apache ZooKeeper and JAVA_HOME to a Java runtime"
	home := t.TempDir()
	touch := func(path string, mode os.FileMode) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, mode)); err != nil {
			t.Fatal(err)
		}
	}
	java := filepath.Join(home, "jre/bin/java")
	touch(java, 0o755)
	for _, jar := range debianClassPath {
		touch(filepath.Join(home, "debian", jar), 0o644)
	}
	touch(filepath.Join(home, "apache/lib/zookeeper-3.9.3.jar"), 0o644)

	for _, tc := range []struct {
		name             string
		javaHome, zkHome string
		debian           string
		want             string // class path
		wantErr          string
	}{
		{"debian", home + "/jre", "", home + "/debian", home + "/debian/zookeeper.jar:", ""},
		{"apache", home + "/jre", home + "/apache", home + "/none", home + "/apache/lib/*", ""},
		{"no java", home + "/none", "", home + "/debian", "",
			"no Java runtime found (exec: \"" + home + "/none/bin/java\": stat " + home + "/none/bin/java: no such file or directory)"},
		{"no jars", home + "/jre", "", home + "/none", "", "no " + home + "/none/zookeeper.jar"},
		{"wrong home", home + "/jre", home + "/none", home + "/debian", "", "no zookeeper-*.jar in ZOOKEEPER_HOME's " + home + "/none/lib"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			env := map[string]string{"JAVA_HOME": tc.javaHome, "ZOOKEEPER_HOME": tc.zkHome}
			got, err := findJVM(func(k string) string { return env[k] }, tc.debian)
			if tc.wantErr != "" {
				want := "harness: backend jvm is not available: " + tc.wantErr + remedy
				if !errors.Is(err, ErrUnavailable) || err.Error() != want {
					t.Fatalf("got  %v\nwant %s", err, want)
				}
				return
			}
			if err != nil || got.java != java || !strings.HasPrefix(got.classPath, tc.want) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func skipWithoutJVM(t *testing.T) {
	t.Helper()
	if _, err := findJVM(os.Getenv, debianJars); err != nil {
		if Required(string(JVM)) {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

func (s *Server) pid(i int) int { return s.nodes[i].(*jvmNode).cmd.Process.Pid }

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func TestJVMDiesAtStart(t *testing.T) {
	skipWithoutJVM(t)
	_, err := Start(t.Context(), JVM, Options{Properties: map[string]string{"tickTime": "soon"}})
	const want = "harness: jvm server 0 ended: exit status 2; the end of its log:\n\t"
	if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), `For input string: "soon"`) {
		t.Errorf("message %q, want it to begin with %q", err, want)
	}
}

// When a test ends, its server's process and folder are gone.
func TestForTestLeavesNothing(t *testing.T) {
	skipWithoutJVM(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	r := &recorder{ctx: t.Context()}
	s := ForTest(r, JVM, Options{})
	if s == nil {
		t.Fatal(r.ended)
	}
	pid := s.pid(0)
	if !alive(pid) {
		t.Fatalf("process %d does not run", pid)
	}
	for _, cleanup := range r.cleanups {
		cleanup()
	}
	if alive(pid) || r.ended != "" {
		t.Errorf("process %d runs: %v; %s", pid, alive(pid), r.ended)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
}

// If the parent is killed by SIGKILL, its server ends, too.
func TestServerDiesWithItsParent(t *testing.T) {
	if out := os.Getenv("MRTQ_HARNESS_CHILD"); out != "" {
		s, err := Start(t.Context(), JVM, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(out+".new", fmt.Append(nil, s.pid(0)), 0o600); err != nil {
			t.Fatal(err)
		}
		os.Rename(out+".new", out)
		select {}
	}
	skipWithoutJVM(t)
	if childAttributes() == nil {
		t.Skip("only Linux kills a child together with its parent")
	}
	out := filepath.Join(t.TempDir(), "pid")
	cmd := exec.Command(os.Args[0], "-test.run=^TestServerDiesWithItsParent$", "-test.timeout=60s")
	cmd.Env = append(os.Environ(), "MRTQ_HARNESS_CHILD="+out, "TMPDIR="+t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	poll(t, func() bool {
		data, err := os.ReadFile(out)
		pid, _ = strconv.Atoi(string(data))
		return err == nil && pid > 0
	})
	if !alive(pid) {
		t.Fatalf("server %d does not run", pid)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	poll(t, func() bool { return !running(pid) })
}

// running reports whether a process runs. A zombie does not: it has ended, and only
// waits until init collects it.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

func poll(t *testing.T, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not within 30 s")
		}
	}
}
