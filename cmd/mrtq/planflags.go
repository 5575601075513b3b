package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/files"
	"mrtq/cmd/mrtq/internal/settings"
	"mrtq/internal/znode"
	"mrtq/migrate/migration"
	"mrtq/newqueue"
)

// planFlags are the settings of a plan. plan and migrate have the same flags with
// the same meaning.
type planFlags struct {
	legacyFlags
	choices            migration.Choices
	dialect, acl, note string
	packet             int
	newQueue, restored bool
	set                *pflag.FlagSet
	saved              *migration.Plan // nil without --plan
}

var choiceUsage = map[string]string{
	"consumed":    "what becomes of records that a worker may have",
	"failed":      "state of the jobs of failed records",
	"completed":   "completed records",
	"deleted":     "deleted records",
	"undecodable": "records that can't be decoded",

	"inventory-records": "unfinished inventory records, which no deployed service can finish",
	"max-priority":      "highest priority number of a job; the daemon Estimate may add 10 twice, and loses a job above 99",
	"unserviceable":     "other records that no service could work on",
}

const openToAll = "world:anyone:cdrwa"

func (p *planFlags) flags(f *pflag.FlagSet) {
	p.decisionFlags(f)
	f.StringVar(&p.acl, "acl", openToAll, "ACL `list` of created znodes: scheme:id:perms,…")
	f.StringVar(&p.note, "note", "", "`text` to keep with the run, such as a ticket")
	f.BoolVar(&p.newQueue, "new-queue", false, "create a new queue at TARGET, for the first migration; without it, a TARGET that is not there is refused")
	f.BoolVar(&p.restored, "restored", false, "continue although TARGET was restored from a backup: jobs that finished after the backup was made may run again")
}

// decisionFlags adds only the flags that say how to read the records, and what becomes of them.
func (p *planFlags) decisionFlags(f *pflag.FlagSet) {
	p.set = f
	p.legacyFlags.flags(f)
	settings.Choice(f, &p.dialect, "dialect", "", "dialect of the new queue, for the first migration: the published design, or that of the deployed services", "design", "mrt-zk")
	f.Lookup("dialect").DefValue = "" // there is none: an empty target needs a choice
	for _, c := range migration.AllChoices {
		settings.Choice(f, c.Value(&p.choices), c.Name, "", choiceUsage[c.Name], c.Values...)
	}
	f.IntVar(&p.packet, "packet", migration.DefaultMaxBuffer, "the servers' jute.maxbuffer, in `bytes`")
}

func (p *planFlags) options(s pair) (migration.PlanOptions, error) {
	if p.packet < leastPacket {
		return migration.PlanOptions{}, exit.Usagef("--packet %d: expected at least %d", p.packet, leastPacket)
	}
	if p.saved != nil {
		opt := p.saved.Options()
		opt.MaxBuffer, opt.Note = p.packet, cmp.Or(p.note, opt.Note)
		opt.NewQueue, opt.Restored = opt.NewQueue || p.newQueue, opt.Restored || p.restored
		return opt, nil
	}
	acl, err := znode.ParseACL(p.acl)
	if err == nil && s.target.File != "" {
		err = znode.CheckFileACL(acl)
	}
	if err != nil {
		return migration.PlanOptions{}, exit.Usagef("--acl: %w", err)
	}
	if acl == nil && p.set.Changed("acl") {
		acl = znode.OpenACL() // said so, and not left out
	}
	var dialect newqueue.Dialect // "" means that of the target
	if p.set.Changed("dialect") {
		dialect = newqueue.Dialect(p.dialect)
	}
	given := p.choices // the others are those of the newest run
	for _, c := range migration.AllChoices {
		if !p.set.Changed(c.Name) {
			*c.Value(&given) = ""
		}
	}
	return migration.PlanOptions{Dialect: dialect, Choices: given, ACL: acl, MaxBuffer: p.packet, Note: p.note,
		NewQueue: p.newQueue, Restored: p.restored, Source: s.source.Text, Target: s.target.Text}, nil
}

const leastPacket = 128 << 10

// readPlan reads the saved plan that --plan names. text is what the file holds, unpacked.
func readPlan(path string) (plan *migration.Plan, text []byte, err error) {
	if text, err = files.Read(path); err != nil {
		return nil, nil, files.Unread("--plan "+path, err)
	}
	if plan, err = migration.ReadPlan(bytes.NewReader(text)); err != nil {
		return nil, nil, fmt.Errorf("--plan %s: %w; make a new one", path, err)
	}
	return plan, text, nil
}

// besidePlan are the flags of a plan that can be given beside a saved one: the explicit words
// of an operator, which hold when it is carried out, and the operator's note; and packet, because a run that failed
// with one packet size is finished with another.
var besidePlan = []string{"new-queue", "restored", "packet", "note"}

// adopt takes the settings from a saved plan. typed are the flags of the command line: they
// can't decide again what the plan has decided.
func (p *planFlags) adopt(saved *migration.Plan, typed []advice.Flag) error {
	was := flagsOfPlan(saved)
	for _, f := range typed {
		if was.set.Lookup(f.Name) != nil && !slices.Contains(besidePlan, f.Name) {
			return exit.Usagef("--%s: the saved plan decides this; leave the flag out, or make another plan; nothing was read or written", f.Name)
		}
	}
	p.saved, p.choices, p.legacyFlags = saved, saved.Choices, was.legacyFlags
	if !p.set.Changed("packet") {
		p.packet = was.packet
	}
	return nil
}

func flagsOfPlan(saved *migration.Plan) *planFlags {
	p, set := &planFlags{}, saved.Settings
	p.flags(pflag.NewFlagSet("", pflag.ContinueOnError))
	for kind, nodes := range set.Queues.Nodes {
		*p.nodes[kind] = nodes
	}
	p.locks, p.time, p.packet = set.Queues.Locks, set.Time, cmp.Or(set.MaxBuffer, p.packet)
	p.choices, p.note = saved.Choices, set.Note
	p.newQueue, p.restored = set.NewQueue, set.Restored
	if p.dialect = ""; set.NewQueue { // a later run takes that of the queue
		p.dialect = string(saved.Dialect)
	}
	if len(set.ACL) > 0 {
		p.acl = znode.PublicACL(set.ACL)
	}
	return p
}

func settingsOf(saved *migration.Plan) []advice.Flag {
	return flagsOf(flagsOfPlan(saved).set, func(f *pflag.Flag) bool { return f.Value.String() != f.DefValue })
}
