package library_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mrtq/harness/accept/library"
	"mrtq/newqueue"
)

// What a driver in sh answers to hello and to open.
const (
	hello = `read hello; echo '{"n":1,"implementation":"sh 1","protocol":1}'; `
	open  = `read open; echo '{"n":2,"zk_session":"0xfffffffffffffffe"}'; `
)

// tail is how each error ends.
const tail = "; docs/drivers.md says how a driver answers, and its log is on stderr"

// TestDriversThatDoNotStart: what is wrong with a driver is said before any scenario runs.
func TestDriversThatDoNotStart(t *testing.T) {
	for _, c := range []struct{ name, command, want string }{
		{"not there", "exec ./no-such-driver 2>/dev/null", `has ended; it was asked hello`},
		{"prints its help", "echo Usage: driver", `has printed "Usage: driver", which is no answer: invalid character 'U' looking for beginning of value; it was asked hello`},
		{"another protocol", `read hello; echo '{"n":1,"implementation":"x","protocol":2}'; cat`, `needs protocol 2, and this version of mrtq speaks 1`},
		{"a field of another type", `read hello; echo '{"n":1,"implementation":"x","protocol":1,"dialects":"design"}'; cat`, `has printed "{\"n\":1,\"implementation\":\"x\",\"protocol\":1,\"dialects\":\"design\"}", which is no answer: dialects: a JSON string does not fit here; it was asked hello`},
		{"without what is no verb", `read hello; echo '{"n":1,"implementation":"x","protocol":1,"without":["admin-moev"]}'; cat`, `is without "admin-moev", which is no verb`},
		{"no name", `read hello; echo '{"n":1,"protocol":1}'; cat`, `does not name its implementation`},
		{"refuses", `read hello; echo '{"n":1,"refused":{"kind":"other","text":"no jar"}}'; cat`, `refuses: no jar`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := library.Start(t.Context(), library.Options{Command: c.command, Servers: "127.0.0.1:1", Auth: []string{"digest:me:secret"}})
			want := fmt.Sprintf("the driver %q %s%s", c.command, c.want, tail)
			if err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

// TestDriversThatFail: a driver that does not answer as it should fails the scenario, or ends the run. Nothing is left of it.
func TestDriversThatFail(t *testing.T) {
	for _, c := range []struct {
		name, command, want string
		ends                bool
	}{
		{"hangs", "sleep 1000", `has not answered within 200ms, and was killed; it was asked {"n":3,"session":"s1","verb":"init","what":"queue"}`, false},
		{"dies", "read init; exit 1", `has ended; it was asked {"n":3,"session":"s1","verb":"init","what":"queue"}`, false},
		{"prints", "read r; echo done; cat", `has printed "done", which is no answer: invalid character 'd' looking for beginning of value; it was asked {"n":3,"session":"s1","verb":"init","what":"queue"}`, true},
		{"answers twice", `read r; echo '{"n":2}'; cat`, `has answered number 2, which does not wait for an answer: "{\"n\":2}"; it was asked {"n":3,"session":"s1","verb":"init","what":"queue"}`, true},
		{"answers to nothing", `read r; echo '{"n":33}'; cat`, `has answered number 33, which does not wait for an answer: "{\"n\":33}"; it was asked {"n":3,"session":"s1","verb":"init","what":"queue"}`, true},
		{"an unknown kind", `read r; echo '{"n":3,"refused":{"kind":"no"}}'; cat`, `has refused with the unknown kind "no"; it was asked {"verb":"init","what":"queue"}`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			child := filepath.Join(t.TempDir(), "child")
			command := "sleep 1000 & echo $! >" + child + "; " + hello + open + c.command
			d := start(t, command, 200*time.Millisecond)
			s, err := d.Open(t.Context(), "/root", newqueue.Design)
			if err != nil || s.ID() != -2 {
				t.Fatal(err)
			}
			_, err = s.Do(t.Context(), library.Request{Verb: "init", What: "queue"})
			var why *library.DriverError
			want := fmt.Sprintf("the driver %q %s%s", command, c.want, tail)
			if !errors.As(err, &why) || err.Error() != want || why.Ends != c.ends {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			d.Stop()
			gone(t, child)
		})
	}
}

// TestThreeDeaths: a driver that dies is started again, twice.
func TestThreeDeaths(t *testing.T) {
	d := start(t, hello+`exec cat >/dev/null & read open; exit 3`, time.Minute)
	for try := range 4 {
		_, err := d.Open(t.Context(), "/root", newqueue.Design)
		var why *library.DriverError
		if !errors.As(err, &why) {
			t.Fatal(err)
		}
		if last := try == 3; why.Ends != last || last && !strings.Contains(err.Error(), "has died 3 times") {
			t.Errorf("try %d: %v", try, err)
		}
	}
}

// TestUnsupported: what a driver has said that it lacks, it is not asked.
func TestUnsupported(t *testing.T) {
	d := start(t, `read hello; echo '{"n":1,"implementation":"sh 1","protocol":1,"without":["repair","move batch","reasons"]}'; `+open+`cat >/dev/null`, time.Minute)
	s, err := d.Open(t.Context(), "/root", newqueue.Design)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []library.Request{{Verb: "repair", What: "batches"}, {Verb: "move", What: "batch"}} {
		_, err := s.Do(t.Context(), r)
		var refused *library.Refusal
		if !errors.As(err, &refused) || refused.Kind != library.Unsupported {
			t.Errorf("%s: %v", r.Verb, err)
		}
	}
	if d.Capabilities().Reasons() || !d.Capabilities().Warnings() {
		t.Errorf("%+v", d.Capabilities())
	}
}

// TestRestartedDriver: each process of a driver says for its own sessions what it lacks. Several actors open sessions meanwhile.
func TestRestartedDriver(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	d := start(t, `n=$(cat `+ran+` || echo 1); echo $((n+1)) >`+ran+`; read hello
		case $n in
		1) echo '{"n":1,"implementation":"sh 1","protocol":1,"without":["repair"]}'; `+open+`;;
		*) echo '{"n":1,"implementation":"sh 2","protocol":1,"without":["clean"]}'; `+open+` read third; echo '{"n":3,"zk_session":"0x3"}'; cat >/dev/null;;
		esac`, time.Minute)
	lacks := func(s library.Session, verb string) bool {
		_, err := s.Do(t.Context(), library.Request{Verb: verb})
		var refused *library.Refusal
		return errors.As(err, &refused) && refused.Kind == library.Unsupported
	}
	old, err := d.Open(t.Context(), "/root", newqueue.Design)
	if err != nil {
		t.Fatal(err)
	}
	if lacks(old, "init") || d.Capabilities().Name != "sh 1" { // the process has ended, or ends now
		t.Fatal("the first process lacks init")
	}
	var opened [2]library.Session
	var all sync.WaitGroup
	for i := range opened {
		all.Go(func() {
			s, err := d.Open(t.Context(), "/root", newqueue.Design)
			if err != nil {
				t.Error(err)
				return
			}
			opened[i] = s
		})
	}
	all.Go(func() { // another actor, meanwhile
		if !lacks(old, "repair") || !strings.HasPrefix(d.Capabilities().Name, "sh ") {
			t.Error("the first process no longer lacks repair")
		}
	})
	all.Wait()
	for _, s := range opened {
		if s == nil || !lacks(s, "clean") {
			t.Error("a session of the second process does not lack clean")
		}
	}
	if !lacks(old, "repair") || lacks(old, "clean") {
		t.Error("a session of the first process lacks what the second one does")
	}
	if name := d.Capabilities().Name; name != "sh 2" {
		t.Errorf("the driver is %s", name)
	}
}

func start(t *testing.T, command string, act time.Duration) *library.Driver {
	t.Helper()
	d, err := library.Start(t.Context(), library.Options{Command: command, Servers: "127.0.0.1:1", AnswerTimeout: act})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Stop)
	return d
}

func gone(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) { // until init has reaped it
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return
		}
		if state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && strings.Contains(string(state), ") Z ") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("process %d is left", pid)
		}
	}
}
