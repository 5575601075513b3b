package migration

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/cucumber/godog"
	"github.com/go-zookeeper/zk"

	"mrtq/harness/accept/internal/session"
)

// world belongs to one scenario. It has two chroots on the server, a working folder, and
// the outcome of the last command. It reads the chroots through its own session.
type world struct {
	*suite
	root           string // this scenario's chroot
	conn           *zk.Conn
	dir            string
	dialect        string
	last           outcome
	before         map[string]seen // all znodes before the last command
	start          map[string]seen // the new queue at the start
	legacy         map[string]seen // the legacy queue after it was written
	others         map[string]seen // the new queue before the migration, if it was in use
	tampered       []string        // the changed znodes that verification did not name
	added          string          // the job that was submitted after the migration
	gone           []string        // the records whose jobs were finished and cleaned up
	quarantineFile string
	large          bool // the queue is too large to be read before every command
	closers        []func()
}

// outcome is the result of a command, for a Then to check.
type outcome struct {
	code           int
	stdout, stderr string
}

// seen is one znode as the scenario's session reads it.
type seen struct {
	data string
	stat zk.Stat
}

// decide has the flags with which migrate migrates every record that can be decoded.
const decide = "--undecodable quarantine --consumed pending --inventory-records migrate --unserviceable migrate"

func (w *world) setUp(ctx context.Context, _ *godog.Scenario) (_ context.Context, err error) {
	if err := context.Cause(ctx); err != nil {
		return ctx, err
	}
	w.root = fmt.Sprintf("%s/scenario-%d", w.session.Address.Chroot, worlds.Add(1))
	if w.dir, err = os.MkdirTemp("", "mrtq-scenario-"); err != nil {
		return ctx, err
	}
	if w.conn, err = session.Open(ctx, w.session); err != nil {
		return ctx, err
	}
	w.quarantineFile = filepath.Join(w.dir, "mrtq-quarantine.ndjson")
	if err := w.makeRoot(); err != nil {
		return ctx, err
	}
	w.start, err = w.tree("/new")
	return ctx, err
}

// makeRoot creates the chroots of both queues.
func (w *world) makeRoot() error {
	for _, path := range []string{w.root, w.root + "/legacy", w.root + "/new"} {
		if err := w.create(path, []byte{}); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) tearDown(ctx context.Context, sc *godog.Scenario, err error) (context.Context, error) {
	for _, close := range w.closers {
		close()
	}
	if w.conn != nil {
		w.conn.Close()
	}
	if ctx.Err() == nil { // otherwise the run was stopped, and this scenario does not count
		w.finished(sc, err)
	}
	return ctx, os.RemoveAll(w.dir)
}

// at returns the connect string of a chroot of the scenario.
func (w *world) at(chroot string) string {
	return strings.Join(w.session.Address.Servers, ",") + w.root + chroot
}

func (w *world) source() string { return w.at("/legacy") }
func (w *world) target() string { return w.at("/new") }

// command returns mrtq with arguments, in the scenario's folder and with an environment of
// its own.
func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.Command(w.opt.Command, append(args, w.opt.Flags...)...)
	cmd.Args[0] = "mrtq"
	cmd.Dir = w.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "MRTQ_ZK_AUTH=" + os.Getenv("MRTQ_ZK_AUTH")}
	return cmd
}

// run runs mrtq and keeps its outcome for the Thens. It checks nothing.
func (w *world) run(line string, args ...string) error {
	var err error
	if !w.large {
		if w.before, err = w.tree(""); err != nil {
			return err
		}
	}
	w.last, err = outcomeOf(w.command(append(strings.Fields(line), args...)...))
	return err
}

func outcomeOf(cmd *exec.Cmd) (outcome, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return outcome{}, err
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}, nil
}

// wantCode checks the exit code of the last command.
func (w *world) wantCode(code int) error {
	if w.last.code != code {
		return fmt.Errorf("exit code %d, want %d\nstdout: %.2000s\nstderr: %.2000s", w.last.code, code, w.last.stdout, w.last.stderr)
	}
	return nil
}

func (w *world) json(v any) error {
	if err := json.Unmarshal([]byte(w.last.stdout), v); err != nil {
		return fmt.Errorf("stdout is no JSON: %w\n%.500s\nstderr: %.500s", err, w.last.stdout, w.last.stderr)
	}
	return nil
}

func (w *world) create(path string, data []byte) error {
	_, err := w.conn.Create(path, data, 0, w.acl)
	if err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	return nil
}

// tree reads everything below sub in the scenario's chroot, with many requests under way.
// Paths are relative to sub.
func (w *world) tree(sub string) (map[string]seen, error) {
	base := w.root + sub
	if _, err := w.conn.Sync(base); err != nil {
		return nil, err
	}
	tree := map[string]seen{}
	var mu sync.Mutex
	var first error
	// There are a few readers for each level, and not one for each znode, because the
	// race detector remembers every goroutine.
	for level := []string{base}; len(level) > 0 && first == nil; {
		below := make([][]string, len(level))
		work := make(chan int)
		var readers sync.WaitGroup
		for range 32 {
			readers.Go(func() {
				for i := range work {
					n, names, err := w.look(level[i])
					mu.Lock()
					if tree[strings.TrimPrefix(level[i], base)] = n; err != nil {
						first = err
					}
					mu.Unlock()
					below[i] = names
				}
			})
		}
		for i := range level {
			work <- i
		}
		close(work)
		readers.Wait()
		level = slices.Concat(below...)
	}
	return tree, first
}

// look reads one znode and the paths of its children.
func (w *world) look(path string) (seen, []string, error) {
	data, stat, err := w.conn.Get(path)
	var names []string
	if err == nil && stat.NumChildren > 0 {
		names, _, err = w.conn.Children(path)
	}
	if err != nil {
		return seen{}, nil, fmt.Errorf("%s: %w", path, err)
	}
	text := string(data)
	if data == nil {
		text = "(null)"
	}
	for i, name := range names {
		names[i] = path + "/" + name
	}
	return seen{text, *stat}, names, nil
}

// sameData compares two trees' paths and data.
func sameData(want, got map[string]seen) error {
	return compare(want, got, func(a, b seen) bool { return a.data == b.data })
}

// sameStats compares everything that a write would change.
func sameStats(want, got map[string]seen) error {
	return compare(want, got, func(a, b seen) bool { return a == b })
}

func compare(want, got map[string]seen, same func(a, b seen) bool) error {
	var diffs []string
	for path, a := range want {
		if b, ok := got[path]; !ok {
			diffs = append(diffs, path+" is gone")
		} else if !same(a, b) {
			diffs = append(diffs, fmt.Sprintf("%s was %q %+v, is %q %+v", path, a.data, a.stat, b.data, b.stat))
		}
	}
	for path := range got {
		if _, ok := want[path]; !ok {
			diffs = append(diffs, path+" is new")
		}
	}
	if len(diffs) == 0 {
		return nil
	}
	sort.Strings(diffs)
	if len(diffs) > 10 {
		diffs = append(diffs[:10], "…")
	}
	return errors.New("the trees differ:\n" + strings.Join(diffs, "\n"))
}
