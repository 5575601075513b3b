package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"mrtq/internal/side"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
)

// legacyFlags say where the legacy queues are and how to read them.
type legacyFlags struct {
	nodes map[migrate.QueueKind]*[]string
	locks []string
	time  string
}

// queueFlags names each kind's flag.
var queueFlags = []struct {
	kind migrate.QueueKind
	flag string
}{
	{migrate.Ingest, "ingest"},
	{migrate.Inventory, "inventory"},
	{migrate.AccessSmall, "access-small"},
	{migrate.AccessLarge, "access-large"},
}

func (l *legacyFlags) flags(f *pflag.FlagSet) {
	l.nodeFlags(f)
	choice(f, &l.time, "time", "", "unit of the records' times; auto decides by magnitude", "auto", "s", "ms")
}

// nodeFlags adds only the flags that say where the queues are.
func (l *legacyFlags) nodeFlags(f *pflag.FlagSet) {
	def := migrate.DefaultQueues()
	l.nodes = map[migrate.QueueKind]*[]string{}
	for _, q := range queueFlags {
		l.nodes[q.kind] = f.StringSlice(q.flag, def.Nodes[q.kind], "legacy "+string(q.kind)+" queue `node`; can be repeated, and \"\" means none")
	}
	f.StringSliceVar(&l.locks, "locks", def.Locks, "`node` of the outstanding legacy locks; can be repeated")
}

func (l *legacyFlags) queues() (migrate.Queues, error) {
	q := migrate.Queues{Nodes: map[migrate.QueueKind][]string{}, Locks: nonEmpty(l.locks)}
	for _, f := range queueFlags {
		q.Nodes[f.kind] = nonEmpty(*l.nodes[f.kind])
		if err := validNodes(f.flag, q.Nodes[f.kind]); err != nil {
			return q, err
		}
	}
	if err := validNodes("locks", q.Locks); err != nil {
		return q, err
	}
	if err := q.Validate(); err != nil {
		return q, usageError("%w", err)
	}
	return q, nil
}

// adopt takes a plan's queues and options.
func (l *legacyFlags) adopt(q migrate.Queues, opt legacy.Options) {
	for _, f := range queueFlags {
		*l.nodes[f.kind] = q.Nodes[f.kind]
	}
	l.locks, l.time = q.Locks, opt.Time.String()
}

func validNodes(flag string, nodes []string) error {
	for _, n := range nodes {
		if err := znode.ValidatePath(n); err != nil {
			if !strings.HasPrefix(n, "/") {
				return usageError("--%s %s: a znode's path begins with /; give --%s %s", flag, shellWord(n), flag, shellWord("/"+n))
			}
			return usageError("--%s: %w", flag, err)
		}
	}
	return nil
}

// notThere says which of the queue nodes that flags name are not in a source, and what to
// do. The default nodes can be missing.
func (l *legacyFlags) notThere(queue *migrate.LegacyQueue) (named, usual []string) {
	def := migrate.DefaultQueues()
	for _, q := range queueFlags {
		for _, node := range *l.nodes[q.kind] {
			switch {
			case !slices.Contains(queue.Missing, node):
			case slices.Contains(def.Nodes[q.kind], node):
				usual = append(usual, node+" is not there")
			default:
				named = append(named, fmt.Sprintf("--%s %s: the source has no such znode; it has %s. Check the path, or leave this node out of --%s", q.flag, node, someOf(queue.There), q.flag))
			}
		}
	}
	return named, usual
}

// nonEmpty returns the names that are not empty.
func nonEmpty(names []string) []string {
	var out []string
	for _, n := range names {
		if n != "" {
			out = append(out, n)
		}
	}
	return out
}

// reads returns which legacy queues to read, and how to read their records.
func (l *legacyFlags) reads() (migrate.Queues, legacy.Options, error) {
	queues, err := l.queues()
	if err != nil {
		return queues, legacy.Options{}, err
	}
	policy, err := legacy.ParseTimePolicy(l.time)
	if err != nil {
		return queues, legacy.Options{}, usageError("--time: %w", err)
	}
	return queues, legacy.Options{Time: policy}, nil
}

// openTargetOrEmpty is openTarget for a target that may not exist yet: a missing file
// counts as an empty one.
func (a *app) openTargetOrEmpty(ctx context.Context, e endpoint) (*reading, error) {
	target, err := a.openTarget(ctx, e, nil)
	switch {
	case e.file != "" && errors.Is(err, fs.ErrNotExist):
		return &reading{side.Tree(znode.NewTree()), func() {}}, nil
	case err != nil:
		return nil, err
	}
	return target, nil
}
