package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/settings"
	"mrtq/internal/znode"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/migration"
)

type legacyFlags struct {
	nodes map[migration.QueueKind]*[]string
	locks []string
	time  string
}

func (l *legacyFlags) flags(f *pflag.FlagSet) {
	l.nodeFlags(f)
	settings.Choice(f, &l.time, "time", "", "unit of the records' times; auto decides by magnitude", "auto", "s", "ms")
}

func (l *legacyFlags) nodeFlags(f *pflag.FlagSet) {
	def := migration.DefaultQueues()
	l.nodes = map[migration.QueueKind]*[]string{}
	for _, q := range advice.QueueFlags {
		l.nodes[q.Kind] = f.StringSlice(q.Flag, def.Nodes[q.Kind], "`node` of the "+string(q.Kind)+" queue; can be repeated, and \"\" means none")
	}
	f.StringSliceVar(&l.locks, "locks", def.Locks, "`node` of the legacy locks; can be repeated")
}

func (l *legacyFlags) queues() (migration.Queues, error) {
	q := migration.Queues{Nodes: map[migration.QueueKind][]string{}, Locks: nonEmpty(l.locks)}
	for _, f := range advice.QueueFlags {
		q.Nodes[f.Kind] = nonEmpty(*l.nodes[f.Kind])
		if err := validNodes(f.Flag, q.Nodes[f.Kind]); err != nil {
			return q, err
		}
	}
	if err := validNodes("locks", q.Locks); err != nil {
		return q, err
	}
	if err := q.Validate(); err != nil {
		return q, exit.Usagef("%w", err)
	}
	return q, nil
}

func (l *legacyFlags) reads() (migration.Queues, legacy.Options, error) {
	queues, err := l.queues()
	if err != nil {
		return queues, legacy.Options{}, err
	}
	unit, err := legacy.ParseTimeChoice(l.time)
	if err != nil {
		return queues, legacy.Options{}, exit.Usagef("--time: %w", err)
	}
	return queues, legacy.Options{Time: unit}, nil
}

// openSource opens a legacy queue. Closing the side is up to the caller. If SOURCE and
// TARGET were exchanged, the error says so; s.target may be empty.
func (a *app) openSource(ctx context.Context, s pair, l *legacyFlags) (*migrate.Source, *migrate.Side, error) {
	queues, opt, err := l.reads()
	if err != nil {
		return nil, nil, err
	}
	side, err := a.open(ctx, s.source, false)
	if err != nil {
		return nil, nil, failed("source", s.source.Text, err)
	}
	src, err := migrate.OpenSource(ctx, side.Reader, queues, opt)
	if err != nil {
		side.Close()
		if errors.Is(err, migrate.ErrNoQueues) && s.target.Text != "" {
			if swapped := a.swapped(ctx, s, queues); swapped != nil {
				return nil, nil, swapped
			}
		}
		return nil, nil, failed("source", s.source.Text, err)
	}
	return src, side, nil
}

func validNodes(flag string, nodes []string) error {
	for _, n := range nodes {
		if err := znode.ValidatePath(n); err != nil {
			if !strings.HasPrefix(n, "/") {
				return exit.Usagef("--%s %s: a znode's path begins with /; give --%s %s", flag, advice.Word(n), flag, advice.Word("/"+n))
			}
			return exit.Usagef("--%s: %w", flag, err)
		}
	}
	return nil
}

func nonEmpty(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "" })
}
