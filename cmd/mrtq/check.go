package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/screen"
	"mrtq/cmd/mrtq/internal/view"
	"mrtq/internal/layout"
	"mrtq/internal/layout/merritt"
	"mrtq/migrate"
	"mrtq/newqueue"
)

type checkCmd struct {
	layout  string
	dialect string
	output  string
}

// mostReads is how often check reads a server's tree at most before it reports a
// finding. A job that moves all the time can be in the same place twice by chance.
const mostReads = 8

var errBroken = errors.New("the tree differs from its schema")

func (a *app) checkCmd() *cobra.Command {
	c := &checkCmd{}
	cmd := &cobra.Command{
		Use:   "check TARGET",
		Short: "compare a tree with the schema of its layout",
		Long: `Read a tree, and report each znode that differs from the schema of its layout: what was
found, what was expected, and what to do. A
server's tree may change while check reads it. So check reads it again, and reports
only what is still wrong. Exit code 1 if there are errors. check never writes.`,
		Example: `  mrtq check zk1:2181/new
  mrtq check zk1:2181/zuul --layout zuul -o json`,
		Args: args("TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), a, args[0]) },
	}
	f := cmd.Flags()
	a.conn.RateFlag(f)
	f.StringVar(&c.layout, "layout", "merritt", "`schema` to compare the tree with: merritt, zuul, or a file")
	f.StringVar(&c.dialect, "dialect", "", "`dialect` of the layout, if it has several: design or mrt-zk; if not given, that of the queue")
	outputFlag(f, &c.output, "json")
	return cmd
}

func (c *checkCmd) run(ctx context.Context, a *app, target string) error {
	p, err := parsePlace("TARGET", target)
	if err != nil {
		return err
	}
	l, err := c.named()
	if err != nil {
		return err
	}
	side, err := a.open(ctx, p, false)
	if err != nil {
		return failed("target", target, err)
	}
	defer side.Close()
	if _, there, err := side.Exists(ctx, "/"); err == nil && !there {
		return failed("target", target, fmt.Errorf("the chroot %s is not there; check the address", p.Server.Chroot))
	}
	tree := side.MarkUnreadable()
	if l.Dialect != "" && c.dialect == "" && !isMapFile(c.layout) {
		if l, err = c.recognised(ctx, tree, l, target); err != nil {
			return failed("target", target, err)
		}
	}
	report, err := c.check(ctx, a, l, tree, p)
	if errors.Is(err, layout.ErrNoMatch) {
		next := advice.Next{First: "check the address, or give another --layout"}
		if status := a.statusOf(ctx, p); status != nil && status.Step == migrate.StepLegacyQueue && c.layout == "merritt" {
			next = advice.Next{First: "this is a legacy queue, and the command for its records is another one", Command: a.advice.Command("inspect", []string{target})}
		}
		err = exit.Check(&advised{fmt.Errorf("there is no znode of the layout %s", c.layout), next})
	}
	if err != nil {
		return failed("target", target, err)
	}
	c.print(a, report)
	if n := report.Count(layout.Error); n > 0 {
		return exit.Check(fmt.Errorf("%w: %s", errBroken, screen.Count(n, "error", "errors")))
	}
	return nil
}

func (c *checkCmd) named() (*layout.Map, error) {
	if isMapFile(c.layout) {
		return ownLayout(c.layout, c.dialect)
	}
	if c.dialect != "" && c.layout != "merritt" {
		return nil, exit.Usagef("--dialect %s: the layout %s has no dialects", c.dialect, c.layout)
	}
	l, err := merritt.Named(c.layout, c.dialect)
	if errors.Is(err, merritt.ErrUnknown) {
		return l, exit.Usagef("%w, and files with your own schema, whose names have a dot or a slash", err)
	}
	if err != nil {
		return l, exit.Usagef("%w", err)
	}
	return l, nil
}

func isMapFile(name string) bool {
	return strings.ContainsAny(name, "/.")
}

func ownLayout(path, dialect string) (*layout.Map, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, files.Unread("schema "+path, err)
	}
	m, err := layout.Load(path, text, dialect)
	if err != nil {
		return nil, exit.Usagef("%w; correct the schema, or give one of %s", err, strings.Join(merritt.Names, ", "))
	}
	return m, nil
}

// recognised is the layout l in the dialect of the queue that the tree holds. If the tree
// has no root of the layout, it is l.
func (c *checkCmd) recognised(ctx context.Context, tree *migrate.Reader, l *layout.Map, target string) (*layout.Map, error) {
	d, err := migrate.DialectAt(ctx, tree)
	if err != nil {
		return l, err
	}
	if d != "" {
		c.dialect = string(d)
		return c.named()
	}
	for _, root := range l.Roots {
		if _, there, err := tree.Exists(ctx, root); err != nil {
			return l, err
		} else if there {
			return l, exit.Usagef("nothing at %s shows the dialect of its queue; give --dialect %s", target, strings.Join(l.Dialects, " or --dialect "))
		}
	}
	return l, nil
}

func (c *checkCmd) check(ctx context.Context, a *app, l *layout.Map, tree *migrate.Reader, p place) (*layout.Report, error) {
	if jobs, there, err := tree.Exists(ctx, newqueue.JobsPath); err == nil && there {
		spareMemory(int(jobs.NumChildren))
	}
	show, finish := a.Progress("checking", "znodes")
	defer finish()
	opt := layout.Options{MaxFindings: screen.MostRows, Progress: func(n int) { show(n, 0) }}
	if p.isServer() {
		opt.MaxReads, opt.Now = mostReads, time.Now()
	}
	return l.Check(ctx, tree, opt)
}

type checked struct {
	Layout   string                  `json:"layout"`
	Dialect  string                  `json:"dialect,omitempty"`
	Nodes    int                     `json:"nodes"`
	Counts   map[layout.Severity]int `json:"counts"`
	Rules    map[string]int          `json:"rules"`
	Findings []layout.Finding        `json:"findings"`
}

func (c *checkCmd) print(a *app, r *layout.Report) {
	if c.output == "json" {
		out := checked{Layout: r.Map.Name, Dialect: r.Map.Dialect, Nodes: r.Nodes, Counts: map[layout.Severity]int{}, Rules: map[string]int{}, Findings: r.Findings}
		if out.Findings == nil {
			out.Findings = []layout.Finding{}
		}
		for _, s := range layout.Severities {
			out.Counts[s] = r.Count(s)
		}
		for of, n := range r.Counts {
			out.Rules[of.Rule] += n
		}
		a.JSON(out)
	} else {
		view.Findings(a.Screen, r)
	}
	name := r.Map.Name
	if r.Map.Dialect != "" {
		name += ", dialect " + r.Map.Dialect
	}
	tone, word := screen.Good, "passed"
	if r.Count(layout.Error) > 0 {
		tone, word = screen.Bad, "failed"
	}
	a.Conclude(tone, word, fmt.Sprintf("%s compared with the schema %s: %s, %s, %s.", screen.Count(r.Nodes, "znode", "znodes"), name, screen.Count(r.Count(layout.Error), "error", "errors"),
		screen.Count(r.Count(layout.Warning), "warning", "warnings"), screen.Count(r.Count(layout.Info), "note", "notes")), advice.Next{})
}
