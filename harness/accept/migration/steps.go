package migration

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cucumber/godog"
	"github.com/go-zookeeper/zk"

	"mrtq/features"
	"mrtq/harness/accept/internal/runner"
	"mrtq/harness/daemons"
	"mrtq/harness/internal/session"
	"mrtq/internal/layout/merritt/services"
	"mrtq/internal/legacyqueue"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/newqueue"
)

// register registers every step. A pattern must match the whole step.
func (w *world) register(step runner.Step) {
	step(`the legacy queue (?:has|gets) the records of (\S+)`, func(file string) error {
		return w.load(znode.ReadDump(strings.NewReader(cmp.Or(features.Queues[file], "no dump"))))
	})
	step(`the legacy queue has (\d+) records of all formats`, func(records int) error {
		return w.load(legacyqueue.Make(legacyqueue.Options{Records: records, Seed: 1, Consumed: true}))
	})
	step(`I run "([^"]+)"(?:, and it exits with (\d)|, and (it|the server) is killed halfway)?`, w.run)
	step(`it prints "(.+)"`, w.prints)
	step(`it prints`, func(screen *godog.DocString) error { return w.prints(screen.Content) })
	step(`nothing was written`, w.nothingWritten)
	step(`the queues have`, w.queuesHave)

	// Services and workers work until none finds any work.
	var turn *daemons.Turn
	for who, act := range map[string]func() error{
		`the services start`:                func() error { return cmp.Or(w.actors.Start(), w.actors.Run()) },
		`the services go on`:                func() error { return w.actors.Run() },
		`the hourly cleanup runs`:           func() error { return w.actors.Clean() },
		`the legacy workers run`:            func() error { return w.actors.RunLegacy() },
		`Initialize takes a job, and stops`: func() error { _, err := w.actors.Daemon(services.Initialize).Step(); return err },
		// A turn stops before each write. The first one says that the worker has the record.
		`a legacy worker takes a record`:   func() error { turn = w.actors.LegacyWorkers()[0].Begin(); turn.Next(); turn.Next(); return nil },
		`that worker finishes it`:          func() error { _, err := turn.Finish(); return err },
		`an administrator lifts the holds`: func() error { return w.actors.LiftHolds() },
	} {
		step(who, act)
	}
	step(`an administrator (release|requeue|delete)s the (held|failed) jobs`, func(what, state string) error {
		jobs, err := w.actors.States(newqueue.JobsPath)
		for id, is := range jobs {
			if strings.EqualFold(is, state) {
				err = cmp.Or(err, w.actors.Do(daemons.Action(what+" a job"), id))
			}
		}
		return err
	})
	step(`somebody deletes the record (\S+)`, func(record string) error { return w.conn.Delete(w.root("/legacy"+record), -1) })
}

func (w *world) run(line, code, victim string) (err error) {
	if w.before, err = w.look(); err != nil {
		return err
	}
	for n := range w.before.All("/legacy") {
		if record := strings.TrimPrefix(n.Path, "/legacy"); isRecord.MatchString(record) && w.records[record] == nil {
			w.records[record] = append([]byte{}, n.Data...) // not nil
		}
	}
	args := strings.Fields(w.addresses(line))
	if at := slices.Index(args, "--dialect"); at > 0 && w.actors.Dialect == "" {
		connect := func() (daemons.Session, error) { return session.Open(context.Background(), w.Session) }
		w.actors = daemons.New(daemons.Options{Dialect: newqueue.Dialect(args[at+1]),
			New: daemons.Site{Connect: connect, Root: w.root("/new")}, Legacy: daemons.Site{Connect: connect, Root: w.root("/legacy")}})
	}
	w.printed.Reset()
	// No PATH: with one, package godog runs "go env" at the start, whose telemetry writes to HOME after the scenario.
	cmd := exec.Cmd{Path: w.Command, Args: append(args, w.Flags...), Dir: w.dir, Stdout: &w.printed, Stderr: &w.printed,
		Env: []string{"HOME=" + w.dir, "MRTQ_ZK_AUTH=" + os.Getenv("MRTQ_ZK_AUTH")}}
	if err = cmd.Start(); err == nil && victim != "" {
		err = w.kill(victim, cmd.Process)
	}
	if err != nil {
		return err
	}
	_ = cmd.Wait() // its exit code tells
	// If the server was killed, mrtq finishes unless its session was lost.
	want := cmp.Or(code, map[string]string{"": "0", "it": "-1", "the server": "0 3"}[victim])
	if got := strconv.Itoa(cmd.ProcessState.ExitCode()); !slices.Contains(strings.Fields(want), got) {
		return fmt.Errorf("%s exits with %s:\n%s", line, got, &w.printed)
	}
	return nil
}

// kill waits until mrtq has sent 20 transactions, which the version of the run's znode counts.
func (w *world) kill(victim string, mrtq *os.Process) error {
	for late := time.Now().Add(time.Minute); ; {
		if _, sent, err := w.conn.Exists(w.root("/new/migration/runs/run0000000000")); err == nil && sent.Version >= 20 {
			break
		} else if time.Now().After(late) {
			return errors.Join(errors.New("not 20 transactions after a minute"), err)
		}
	}
	if victim == "it" {
		return mrtq.Kill()
	}
	return cmp.Or(w.Server.Kill(), w.Server.Restart(context.Background()))
}

// prints finds a part of what the last command printed, wherever mrtq breaks lines.
func (w *world) prints(part string) error {
	if !strings.Contains(oneSpace(w.printed.String()), oneSpace(w.addresses(part))) {
		return fmt.Errorf("it prints\n%s", &w.printed)
	}
	return nil
}

func oneSpace(text string) string { return strings.Join(strings.Fields(text), " ") }

func (w *world) addresses(text string) string {
	servers := strings.Join(w.Session.Address.Servers, ",")
	return strings.NewReplacer("$SOURCE", servers+w.root("/legacy"), "$TARGET", servers+w.root("/new")).Replace(text)
}

// nothingWritten compares all that is there: every write changes a Stat.
func (w *world) nothingWritten() error {
	tree, err := w.look()
	if err != nil {
		return err
	}
	for n := range tree.All("/") {
		if was := w.before.Get(n.Path); was == nil || was.Stat != n.Stat {
			return errors.New(n.Path + " was written")
		}
	}
	return nil
}

// load creates znodes of the legacy queue. What is there stays.
func (w *world) load(tree *znode.Tree, err error) error {
	if err != nil {
		return err
	}
	for n := range tree.All("/") {
		at := strings.TrimSuffix(w.root("/legacy"+n.Path), "/")
		if _, err := w.conn.Create(at, append([]byte{}, n.Data...), 0, session.ACL(w.Session)); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return fmt.Errorf("%s: %w", at, err)
		}
	}
	return nil
}

// queuesHave compares a table with all records, and with the batches and the holds of the new queue. A row is about
// one of them, or about so many of the others that are alike. If all rows are about one, the others don't matter.
func (w *world) queuesHave(table *godog.Table) error {
	want, found, named, alike := map[string]int{}, map[string]int{}, map[string]bool{}, len(table.Rows) == 1
	for _, row := range table.Rows[1:] {
		var cells []string
		for _, cell := range row.Cells {
			cells = append(cells, cell.Value)
		}
		n, err := strconv.Atoi(cells[0]) // or a path
		alike = alike || err == nil
		want[strings.TrimLeft(strings.Join(cells, " | "), "0123456789")] = max(n, 1)
		named[cells[0]] = true
	}
	tree, err := w.look()
	if err != nil {
		return err
	}
	paths, cells := w.inQueues(tree)
	for path := range paths {
		row := ""
		for _, column := range table.Rows[0].Cells[1:] {
			row += " | " + cmp.Or(cells[column.Value][path], cells[column.Value][""])
		}
		if named[path] {
			found[path+row]++
		} else if alike {
			found[row]++
		}
	}
	if !maps.Equal(found, want) {
		return fmt.Errorf("they have %v, expected %v", found, want)
	}
	return nil
}

var (
	isRecord = regexp.MustCompile(`^/(ingest|mrt\.inventory\.full|accessSmall\.1|accessLarge\.1)/.`)
	isItem   = regexp.MustCompile(`^/(?:jobs/jid|access/small/qid|access/large/qid|(batch)es/|locks/queue/)[^/]+$`)
)

// inQueues returns the path of each record, batch and hold, and what it is, by the column of a table.
func (w *world) inQueues(tree *znode.Tree) (paths map[string]bool, in map[string]map[string]string) {
	paths, kept := map[string]bool{}, map[string]string{}
	in = map[string]map[string]string{"legacy queue": {"": "–"}, "kept": {"": "–"}, "new queue": {"": "–"}, "done": {"": "–"}, "without content": {"": "–"}}
	for n := range tree.All("/legacy/mrtq-handed-over") {
		kept[string(n.Data)] = "yes"
	}
	for record, data := range w.records {
		was, _ := legacy.Decode(znode.Name(record), data, legacy.Options{})
		done := w.actors.Executions()[daemons.LegacyKey(was.Payload)]
		paths[record], in["kept"][record] = true, kept[string(data)]
		in["done"][record], in["without content"][record] = strconv.Itoa(done.Times()), strconv.Itoa(done.StoredEmpty)
		if n := tree.Get("/legacy" + record); n != nil {
			is, err := legacy.Decode(znode.Name(record), n.Data, legacy.Options{})
			in["legacy queue"][record] = is.Header.Status.String()
			if same := string(n.Data) == string(data); same && err != nil {
				in["legacy queue"][record] = "bad"
			} else if !same && is.Header.Status == was.Header.Status {
				in["legacy queue"][record] = "changed"
			}
		}
	}
	for n := range tree.All("/new") {
		path := strings.TrimPrefix(n.Path, "/new")
		if item := isItem.FindStringSubmatch(path); item != nil {
			is := struct{ Path, Status string }{path, "hold"} // a migrated job has the path of its record
			_ = json.Unmarshal(n.Data, &is)
			if status := tree.Get(n.Path + "/status"); status != nil {
				_ = json.Unmarshal(status.Data, &is)
			}
			paths[is.Path] = true
			in["new queue"][is.Path] += strings.TrimSpace(item[1] + " " + strings.ToLower(is.Status)) // a second job would show
		}
	}
	return paths, in
}
