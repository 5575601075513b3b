package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// planFlags are the settings of a plan. plan and migrate have the same flags with
// the same meaning.
type planFlags struct {
	legacyFlags
	policies migrate.Policies
	dialect  string
	acl      string
	packet   int
	again    []string
	done     []string
	second   bool                   // create a second new queue of the same source
	given    func(flag string) bool // on the command line or in the settings
	// approved is the saved plan to carry out, nil if there is none.
	approved *migrate.Approved
	made     migrate.Options // the settings of the saved plan
}

func (p *planFlags) flags(f *pflag.FlagSet) {
	p.legacyFlags.flags(f)
	choice(f, &p.dialect, "dialect", "", "dialect of the new layout: design is that of the documents, mrt-zk that of the deployed services; you can leave it out if TARGET holds a queue", "design", "mrt-zk")
	f.Lookup("dialect").DefValue = "" // there is none: an empty target needs a choice
	p.given = func(flag string) bool { return f.Changed(flag) }
	policyFlags(f, &p.policies)
	f.StringVar(&p.acl, "acl", "world:anyone:cdrwa", "access control `list` of created znodes: scheme:id:perms, separated by commas; perms of r, w, c, d, a")
	f.StringArrayVar(&p.again, "again", nil, "create a new job for this migrated `record` if its job is gone: its path, or all; can be repeated")
	f.StringArrayVar(&p.done, "done", nil, "count this `record` as done if its custody was lost: its path, or all; can be repeated")
	f.BoolVar(&p.second, "second-queue", false, "create a second new queue, although another one on TARGET's server has the records of SOURCE; if both are released, each job runs twice")
	f.IntVar(&p.packet, "packet", migrate.DefaultPacket, "the servers' jute.maxbuffer in `bytes`")
}

// options checks the flags, and returns them as a plan's options.
func (p *planFlags) options(source, target string) (migrate.Options, error) {
	acl, err := parseACL(p.acl)
	if err != nil {
		return migrate.Options{}, usageError("--acl: %w", err)
	}
	var dialect newqueue.Dialect // "" means that of the target
	if p.given("dialect") {
		if dialect, err = newqueue.ParseDialect(p.dialect); err != nil {
			return migrate.Options{}, usageError("--dialect: %w", err)
		}
	}
	const least = 128 << 10
	if p.packet < least {
		return migrate.Options{}, usageError("--packet %d: want at least %d", p.packet, least)
	}
	return migrate.Options{Dialect: dialect, Policies: p.policies, ACL: acl, Packet: p.packet, Again: p.again, Done: p.done, Next: nextStep, Source: source, Target: target}, nil
}

// parseACL parses scheme:id:perms[,…]. An id may have colons, as those of digest do.
func parseACL(s string) ([]znode.ACL, error) {
	bits := map[rune]int32{'r': 1, 'w': 2, 'c': 4, 'd': 8, 'a': 16}
	var acl []znode.ACL
	for _, item := range strings.Split(s, ",") {
		scheme, rest, ok := strings.Cut(item, ":")
		said := item // in an error, without the digest
		if user, _, more := strings.Cut(rest, ":"); scheme == "digest" && more {
			said = "digest:" + user + ":…"
		}
		i := strings.LastIndexByte(rest, ':')
		if !ok || i < 0 {
			return nil, fmt.Errorf("%q: want scheme:id:perms, such as world:anyone:cdrwa", said)
		}
		entry := znode.ACL{Scheme: scheme, ID: rest[:i]}
		if scheme == "" || entry.ID == "" && scheme != "auth" || rest[i+1:] == "" {
			return nil, fmt.Errorf("%q: want scheme:id:perms, none of them empty", said)
		}
		for _, c := range rest[i+1:] {
			if bits[c] == 0 {
				return nil, fmt.Errorf("%q: permission %q: want r, w, c, d or a", said, c)
			}
			entry.Perms |= bits[c]
		}
		acl = append(acl, entry)
	}
	if znode.IsOpenACL(acl) {
		return nil, nil
	}
	return acl, nil
}

// checkFileACL refuses schemes that only a server understands: auth means the session's
// credentials, and others depend on the server's configuration.
func checkFileACL(acl []znode.ACL) error {
	for _, a := range acl {
		if !slices.Contains([]string{"world", "digest", "ip"}, a.Scheme) {
			return fmt.Errorf("scheme %q: a file's znodes can have world, digest and ip", a.Scheme)
		}
	}
	return nil
}

// sides are a command's SOURCE and TARGET.
type sides struct{ source, target endpoint }

// args are the sides as arguments of a command.
func (s sides) args() []string { return []string{s.source.text, s.target.text} }

// parseSides reads SOURCE and TARGET.
func parseSides(args []string) (sides, error) {
	source, err := parseEndpoint("SOURCE", args[0])
	if err != nil {
		return sides{}, err
	}
	target, err := parseEndpoint("TARGET", args[1])
	return sides{source, target}, err
}

// makePlan reads both sides, over sessions that cannot write, and makes a plan. The
// plan's source stays open until done is called.
func (a *app) makePlan(ctx context.Context, s sides, p *planFlags) (plan *migrate.Plan, opt migrate.Options, done func(), err error) {
	opt, err = p.options(s.source.text, s.target.text)
	if err != nil {
		return nil, opt, nil, err
	}
	if p.approved != nil {
		opt = p.made
	}
	if s.target.file != "" {
		if err := checkFileACL(opt.ACL); err != nil {
			return nil, opt, nil, usageError("--acl: %w", err)
		}
	}
	ctx, finish := a.phases(ctx, "reading both sides")
	defer finish()
	queue, closeQueue, err := a.openQueue(ctx, s.source, &p.legacyFlags)
	if err != nil {
		return nil, opt, nil, failed("source", s.source.text, a.noLegacyQueue(ctx, s, &p.legacyFlags, err))
	}
	defer func() {
		if err != nil {
			closeQueue()
		}
	}()
	target, err := a.openTargetOrEmpty(ctx, s.target)
	if err != nil {
		return nil, opt, nil, failed("target", s.target.text, err)
	}
	defer target.Close()
	plan, err = migrate.MakePlan(ctx, queue, target.Side, opt)
	var targets *migrate.TargetError
	switch {
	case errors.Is(err, migrate.ErrPlace):
		return nil, opt, nil, usageError("TARGET %s: %w", s.target.text, err)
	case errors.As(err, &targets):
		return nil, opt, nil, failed("target", s.target.text, targets.Err)
	case err != nil:
		return nil, opt, nil, failed("source", s.source.text, err)
	}
	// A source can lose a queue after its migration.
	if named, _ := p.notThere(queue); named != nil && p.approved == nil && plan.NewestRun() == "" {
		return nil, opt, nil, usageError("%s; nothing was written", named[0])
	}
	if !p.second {
		if err = a.addElsewhere(ctx, s, target.Side, plan); err != nil {
			return nil, opt, nil, failed("target", s.target.text, err)
		}
	}
	return plan, opt, closeQueue, nil
}
