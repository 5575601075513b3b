package migration

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cucumber/godog"
	"github.com/go-zookeeper/zk"

	"mrtq/harness/accept/internal/runner"
	"mrtq/harness/daemons"
	"mrtq/harness/internal/session"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// world belongs to one scenario. It has two chroots on the server, a working folder, and
// the outcome of the last command.
type world struct {
	*suite
	root    string // this scenario's chroot
	conn    *zk.Conn
	dir     string
	dialect string
	leave   func() // lets scenarios run that must not run beside this one
	last    outcome
	planned plan // what the last plan says

	before *znode.Tree // both queues before the last command
	legacy *znode.Tree // the legacy queue after it was written

	services *daemons.World
	batches  map[string]string // the state of each when the services started
	items    map[string]string // when the services started: the record of each migrated job and request, the name of each batch
	record   string            // the legacy record that the scenario is about
	payload  daemons.Payload   // where the payload of failed records is; "" is in producer/
	working  *daemons.Turn     // of a legacy worker that has taken the record
}

type outcome struct {
	code           int
	stdout, stderr string
}

// commands are the commands of mrtq that an operator gives, by the words of a scenario.
// The words in capitals stand for what arguments has.
var commands = map[string]string{
	"inspects the legacy queue":                     "inspect -o ndjson SOURCE",
	"plans the migration":                           "plan -o json FIRST SOURCE TARGET",
	"plans the migration, deciding every record":    "plan -o json FIRST DECIDED SOURCE TARGET",
	"saved a plan, deciding every record":           "plan -o json FIRST DECIDED --out PLAN SOURCE TARGET",
	"migrates with the defaults":                    "migrate -o json FIRST QUARANTINE SOURCE TARGET",
	"migrates, deciding every record":               "migrate -o json FIRST DECIDED QUARANTINE SOURCE TARGET",
	"migrates, holding what failed or was consumed": "migrate -o json FIRST --undecodable quarantine --consumed held --failed held QUARANTINE SOURCE TARGET",
	"migrates with the saved plan":                  "migrate -o json QUARANTINE --plan PLAN",
	"verifies":                                      "verify -o json QUARANTINE TARGET",
	"releases the queue":                            "release TARGET",
	"releases the queue, as no legacy worker runs":  "release TARGET --workers-stopped 3",
	"moves what has come since":                     "follow --once TARGET",
	"completes the migration":                       "complete --yes TARGET",
	"rolls back the migration":                      "rollback --yes TARGET",
}

func (w *world) arguments() map[string]string {
	return map[string]string{
		"SOURCE": w.at("/legacy"), "TARGET": w.at("/new"),
		"FIRST": "--new-queue --dialect " + w.dialect,
		// DECIDED migrates every record that can be decoded.
		"DECIDED":    "--undecodable quarantine --consumed pending --inventory-records migrate --unserviceable migrate",
		"QUARANTINE": "--quarantine " + filepath.Join(w.dir, "quarantine.ndjson"),
		"PLAN":       filepath.Join(w.dir, "plan.json"),
	}
}

func (w *world) setUp(ctx context.Context, _ *godog.Scenario) (_ context.Context, err error) {
	w.leave = w.enter(runner.CaseOf(ctx).Tags)
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
	return ctx, w.makeRoot()
}

// enter waits until the scenario may run. Call leave when it has ended.
func (w *world) enter(tags []string) (leave func()) {
	if slices.Contains(tags, "@restart") {
		w.alone.Lock()
		return w.alone.Unlock
	}
	w.alone.RLock()
	return w.alone.RUnlock
}

func (w *world) makeRoot() error {
	return cmp.Or(w.create("", []byte{}), w.create("/legacy", []byte{}), w.create("/new", []byte{}))
}

func (w *world) tearDown(ctx context.Context, _ *godog.Scenario, err error) (context.Context, error) {
	defer w.leave()
	if w.services != nil {
		w.services.Close()
	}
	if w.conn != nil {
		w.conn.Close()
	}
	if ctx.Err() == nil { // otherwise the run was stopped, and this scenario does not count
		c := runner.CaseOf(ctx)
		c.Ended, c.Failed = true, err
	}
	return ctx, os.RemoveAll(w.dir)
}

func (w *world) at(chroot string) string {
	return strings.Join(w.session.Address.Servers, ",") + w.root + chroot
}

// launch starts mrtq with a line of arguments, in the scenario's folder and with an
// environment of its own. end waits until it has ended.
func (w *world) launch(line string) (process *os.Process, end func() outcome, err error) {
	var args []string
	words := w.arguments()
	for _, word := range strings.Fields(line) {
		args = append(args, strings.Fields(cmp.Or(words[word], word))...)
	}
	cmd := exec.Command(w.opt.Command, append(args, w.opt.Flags...)...)
	cmd.Args[0] = "mrtq"
	cmd.Dir = w.dir
	// No PATH: package godog runs "go env" when a program starts that has it, and go's telemetry then still writes
	// to HOME when the scenario has ended.
	cmd.Env = []string{"HOME=" + w.dir, "MRTQ_ZK_AUTH=" + os.Getenv("MRTQ_ZK_AUTH")}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Start()
	return cmd.Process, func() outcome {
		_ = cmd.Wait() // its exit code tells
		return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
	}, err
}

func (w *world) run(line string) (err error) {
	if w.before, err = w.tree(""); err != nil {
		return err
	}
	_, end, err := w.launch(line)
	if err != nil {
		return err
	}
	w.last = end()
	if strings.HasPrefix(line, "plan ") {
		w.planned = plan{}
		err = w.last.json(&w.planned)
	}
	return err
}

func (w *world) wantCode(code int) error {
	if w.last.code != code {
		return fmt.Errorf("exit code %d, expected %d\nstdout: %.2000s\nstderr: %.2000s", w.last.code, code, w.last.stdout, w.last.stderr)
	}
	return nil
}

func (o outcome) json(v any) error {
	if err := json.Unmarshal([]byte(o.stdout), v); err != nil {
		return fmt.Errorf("stdout is no JSON: %w\n%.500s\nstderr: %.500s", err, o.stdout, o.stderr)
	}
	return nil
}

func (w *world) create(path string, data []byte) error {
	if _, err := w.conn.Create(w.root+path, data, 0, w.acl); err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	return nil
}

// tree reads everything below sub in the scenario's chroot. Paths are relative to sub. Each look has a session of its own,
// because a scenario may kill the server.
func (w *world) tree(sub string) (*znode.Tree, error) {
	ctx := context.Background()
	r, err := zkconn.OpenReader(ctx, w.session)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if err := r.Sync(ctx); err != nil {
		return nil, err
	}
	return r.WithChroot(w.root + sub).Tree(ctx)
}
