// Package migration runs the scenarios of the migration: of the cutover (migration.feature), of the release
// (handover.feature), and of the deployed services on the migrated queue (services.feature).
//
// A scenario says an operator's commands, and mrtq runs as a process. Its queues are in a chroot of its own.
package migration

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cucumber/godog"
	"github.com/go-zookeeper/zk"

	"mrtq/harness"
	"mrtq/harness/accept"
	"mrtq/harness/accept/internal/runner"
	"mrtq/harness/daemons"
	"mrtq/harness/internal/session"
	"mrtq/internal/zkconn"
	"mrtq/internal/znode"
)

// Options says which scenarios to run, and where.
type Options struct {
	// Server is where the scenarios run, each in a chroot that stays. Those that kill it (@restart) need one of the harness.
	Server *harness.Server
	// Options has the session, the tags and the output. The rest of it is for the scenarios of the new queue.
	accept.Options
	Command string   // the path of mrtq
	Flags   []string // of mrtq, for the same connection as Session
	Files   []string // which of [features.Migration] to run
}

// Run runs the scenarios. The report has no coverage. If a scenario fails, the report says so. The error is only for
// scenarios that could not be run: the cause of ctx if ctx has ended, [accept.ErrNothing], one that wraps
// [accept.ErrTags] or [accept.ErrOnly], or an error of the server.
func Run(ctx context.Context, opt Options) (*accept.Report, error) {
	address, err := zkconn.ParseAddress(opt.Server.Address())
	if err = cmp.Or(runner.CheckTags(opt.Tags), err); err != nil {
		return nil, err
	}
	opt.Session.Address = address
	run := opt.Runner()
	if run.Features, err = runner.Own(opt.Files...); err != nil {
		return nil, err
	}
	run.Scenario = opt.scenario
	if opt.Server.Nodes() == 0 {
		run.Tags = strings.TrimPrefix(run.Tags+" && ~@restart", " && ")
	}
	cases, err := runner.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	r := &accept.Report{Subset: opt.Tags != "" || opt.Only != ""}
	for _, c := range cases {
		r.Add(c, strconv.Quote(c.Name))
	}
	return r, nil
}

// world belongs to one scenario.
type world struct {
	Options                   // the queues are at /legacy and /new of its session's chroot
	dir     string            // of mrtq's files
	conn    *zk.Conn          // its paths are the server's
	records map[string][]byte // of the legacy queue, as a command found them first
	before  *znode.Tree       // what was there before the last command
	printed bytes.Buffer      // by the last command
	actors  *daemons.World    // nobody before a command says the dialect
}

func (o Options) scenario(sc *godog.ScenarioContext) {
	w := &world{Options: o, records: map[string][]byte{}, actors: &daemons.World{}}
	sc.Before(w.setUp)
	sc.After(w.tearDown)
	w.register(runner.StepOf(sc))
}

func (w *world) setUp(ctx context.Context, _ *godog.Scenario) (_ context.Context, err error) {
	if w.dir, err = os.MkdirTemp("", "mrtq-scenario-"); err != nil {
		return ctx, err
	}
	w.Session.Address.Chroot = w.root("/" + filepath.Base(w.dir))
	if w.conn, err = session.Open(ctx, w.Session); err == nil {
		_, err = w.conn.Create(w.root(""), []byte{}, 0, session.ACL(w.Session))
	}
	return ctx, err
}

func (w *world) tearDown(ctx context.Context, _ *godog.Scenario, err error) (context.Context, error) {
	w.actors.Close()
	if w.conn != nil {
		w.conn.Close()
	}
	if ctx.Err() == nil { // otherwise the run was stopped, and this scenario does not count
		c := runner.CaseOf(ctx)
		c.Ended, c.Failed = true, err
	}
	return ctx, os.RemoveAll(w.dir)
}

func (w *world) root(path string) string    { return w.Session.Address.Chroot + path }
func (w *world) look() (*znode.Tree, error) { return session.Tree(context.Background(), w.Session) }
