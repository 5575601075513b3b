// Package migration runs the scenarios of the migration (migration.feature) against
// a ZooKeeper, those of its release (handover.feature), and those of the deployed services on
// the migrated queue (services.feature).
//
// It runs mrtq as a process, as operators do. A scenario has two chroots on the
// server, one for each queue, and reads them through its own session.
package migration

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cucumber/godog"
	"github.com/go-zookeeper/zk"

	"mrtq/harness"
	"mrtq/harness/accept"
	"mrtq/harness/accept/internal/runner"
	"mrtq/harness/internal/session"
	"mrtq/internal/zkconn"
)

// Features has the names of the feature files, in the order in which an operator meets
// what they describe.
var Features = []string{"migration.feature", "handover.feature", "services.feature"}

// Options says which scenarios to run, and where.
type Options struct {
	// Server is where the scenarios run: each creates a chroot there and does not remove it. The scenarios that kill
	// the server (@restart) don't run on one that the harness has not started.
	Server *harness.Server
	// Options has the session, the tags and the output. The rest of it is for the scenarios of the new queue.
	accept.Options
	// Command is the path of mrtq. Flags are its flags for the same connection as
	// Session.
	Command string
	Flags   []string
	// Files says which of [Features] to run. Nil means all.
	Files []string
}

// Run runs the scenarios, several at a time. The report has no coverage. If a scenario fails, the report says so. The
// error is only for scenarios that could not be run: the cause of ctx if ctx has ended,
// [accept.ErrNothing], one that wraps [accept.ErrTags] or [accept.ErrOnly], or an error of the server.
func Run(ctx context.Context, opt Options) (*accept.Report, error) {
	if err := runner.CheckTags(opt.Tags); err != nil {
		return nil, err
	}
	address, err := zkconn.ParseAddress(opt.Server.Address())
	if err != nil {
		return nil, fmt.Errorf("migration: %w", err)
	}
	cfg := opt.Session
	cfg.Address = address
	s := &suite{opt: opt, session: cfg, acl: session.ACL(cfg)}
	names := opt.Files
	if names == nil {
		names = Features
	}
	all, err := runner.Own(names...)
	if err != nil {
		return nil, fmt.Errorf("migration: %w", err)
	}
	run := opt.Runner()
	run.Features, run.Scenario, run.Parallel = all, s.scenario, parallelScenarios
	if opt.Server.Nodes() == 0 {
		run.Tags = strings.TrimPrefix(run.Tags+" && ~@restart", " && ")
	}
	cases, err := runner.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	r := &accept.Report{Subset: opt.Tags != "" || opt.Only != ""}
	for _, c := range cases {
		if !c.Ended {
			r.Problems = append(r.Problems, accept.NotRunnable(c))
			continue
		}
		r.Scenarios++
		if c.Failed != nil {
			r.Failed++
			r.Problems = append(r.Problems, fmt.Sprintf("failed: %s: the scenario %q: %s", c.At(), c.Name, oneLine.ReplaceAllString(c.Failed.Error(), "; ")))
		}
	}
	return r, nil
}

type suite struct {
	opt     Options
	session zkconn.Config
	acl     []zk.ACL
	// alone is locked by a scenario that kills the server, and read-locked by the others.
	alone sync.RWMutex
}

func (s *suite) scenario(sc *godog.ScenarioContext) {
	w := &world{suite: s, dialect: "design"}
	sc.Before(w.setUp)
	sc.After(w.tearDown)
	w.register(runner.StepOf(sc))
}

var oneLine = regexp.MustCompile(`\s*\n\s*`)

// parallelScenarios is more than one so that a scenario runs while another waits.
const parallelScenarios = 3

var worlds atomic.Int64
