package main

import (
	"cmp"
	"encoding/csv"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mrtq/internal/znode"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// A command that mrtq shows as the next step can be pasted: it has the sides, the flags
// that it needs, and those flags of this command that it has, too.

// flagWords is a flag as the words of a command line.
type flagWords struct {
	name  string
	words []string
}

// newFlag is a flag with a value. With several values, the flag is repeated.
func newFlag(name string, values ...string) flagWords {
	f := flagWords{name: name}
	for _, v := range values {
		f.words = append(f.words, "--"+name, v)
	}
	return f
}

// newSwitch is a flag without a value.
func newSwitch(name string) flagWords { return flagWords{name, []string{"--" + name}} }

// typedFlags are the flags that were given on the command line. The others come from
// the settings file or from variables, where the next command finds them, too.
func typedFlags(cmd *cobra.Command) (flags []flagWords) {
	cmd.Flags().Visit(func(f *pflag.Flag) { flags = append(flags, typedFlag(f)) })
	return flags
}

func typedFlag(f *pflag.Flag) flagWords {
	if f.Value.Type() == "bool" {
		if f.Value.String() == "true" {
			return newSwitch(f.Name)
		}
		return flagWords{f.Name, []string{"--" + f.Name + "=" + f.Value.String()}}
	}
	list, ok := f.Value.(pflag.SliceValue)
	switch {
	case f.Name == "acl": // it may hold a digest, which is secret
		return newFlag(f.Name, "ACL")
	case ok && f.Value.Type() == "stringArray":
		return newFlag(f.Name, list.GetSlice()...)
	case ok:
		return newFlag(f.Name, listWord(list.GetSlice()...))
	}
	return newFlag(f.Name, f.Value.String())
}

// notCarriedOver are the flags that say what one call does or prints.
var notCarriedOver = []string{"output", "out", "plan", "quarantine", "run", "force", "unfinished", "dry-run", "metrics", "only", "collection", "by", "why", "hold-again",
	"wide", "verbose", "accept", "check", "help", "version"}

// command is an mrtq command to run next, with the flags that were given to this
// one.
func (a *app) command(name string, args []string, flags ...flagWords) string {
	var next *cobra.Command
	if a.commands != nil {
		next, _, _ = a.commands.Find([]string{name})
	}
	for _, f := range a.typed {
		switch {
		case slices.Contains(notCarriedOver, f.name), hasFlag(flags, f.name), next == nil || next.Flag(f.name) == nil:
		case isPolicy(f.name) && !takesPolicies(name):
		default:
			flags = append(flags, f)
		}
	}
	args = slices.Clone(args)
	for i, arg := range args {
		// A rebuilt run's record has no source, and one in a forged record could be a flag.
		if arg == "" || arg[0] == '-' {
			args[i] = "SOURCE"
		}
	}
	return commandLine(name, args, flags)
}

// commandOfFile is command for one that takes all settings of the migration from a
// saved plan: only the flags of the connection are carried over.
func (a *app) commandOfFile(name string, flags ...flagWords) string {
	all := a.typed
	defer func() { a.typed = all }()
	a.typed = slices.DeleteFunc(slices.Clone(all), func(f flagWords) bool {
		return a.commands.PersistentFlags().Lookup(f.name) == nil && f.name != "max-rate"
	})
	return a.command(name, nil, flags...)
}

func hasFlag(flags []flagWords, name string) bool {
	return slices.ContainsFunc(flags, func(f flagWords) bool { return f.name == name })
}

// commandLine is a command as a person types it: first its arguments, then its flags in
// the order of flagRank.
func commandLine(name string, args []string, flags []flagWords) string {
	flags = slices.Clone(flags)
	slices.SortStableFunc(flags, func(a, b flagWords) int {
		return cmp.Or(cmp.Compare(flagRank(a.name), flagRank(b.name)), cmp.Compare(a.name, b.name))
	})
	words := append([]string{"mrtq", name}, args...)
	for _, f := range flags {
		words = append(words, f.words...)
	}
	for i, word := range words {
		words[i] = shellWord(word)
	}
	return strings.Join(words, " ")
}

// flagRank is a flag's place on a command line. First is what the command is about, then
// the dialect, which is an operator's first decision, then the policies. All others
// follow, by name.
func flagRank(name string) int {
	switch i := slices.IndexFunc(migrate.PolicyChoices, func(c migrate.PolicyChoice) bool { return c.Name == name }); {
	case name == "plan", name == "run":
		return 0
	case name == "dialect":
		return 1
	case i >= 0:
		return 2 + i
	}
	return 2 + len(migrate.PolicyChoices)
}

// takesPolicies reports whether a command needs the policies as flags. The others take them
// from the run's record.
func takesPolicies(name string) bool { return name == "plan" || name == "migrate" }

func isPolicy(flag string) bool {
	return flag == "time" || slices.ContainsFunc(migrate.PolicyChoices, func(c migrate.PolicyChoice) bool { return c.Name == flag })
}

// policiesGiven are the policies that are not the default ones, as flags.
func policiesGiven(p migrate.Policies) (flags []flagWords) {
	for _, c := range migrate.PolicyChoices {
		if v := *c.Value(&p); v != "" && v != c.Values[0] {
			flags = append(flags, newFlag(c.Name, v))
		}
	}
	return flags
}

// runSettings are a run's dialect, policies and ACL as flags of plan and migrate.
func runSettings(d newqueue.Dialect, p migrate.Policies, acl []znode.ACL) []flagWords {
	return append(policiesGiven(p), append(aclGiven(acl), newFlag("dialect", string(d)))...)
}

// aclGiven is the flag of an ACL that is not open. It does not show the ACL, because that
// may hold a digest, which is secret.
func aclGiven(acl []znode.ACL) []flagWords {
	if len(acl) == 0 {
		return nil
	}
	return []flagWords{newFlag("acl", "ACL")}
}

// planSettings are the settings of a saved plan as flags of plan.
func planSettings(a *migrate.Approved) []flagWords {
	opt := a.Options()
	flags := append(policiesGiven(opt.Policies), queueSettings(a)...)
	flags = append(flags, aclGiven(opt.ACL)...)
	if opt.Dialect != "" {
		flags = append(flags, newFlag("dialect", string(opt.Dialect)))
	}
	if opt.Packet != migrate.DefaultPacket {
		flags = append(flags, newFlag("packet", strconv.Itoa(opt.Packet)))
	}
	if t := a.Settings.Time; t != "" && t != "auto" {
		flags = append(flags, newFlag("time", t))
	}
	return append(flags, newFlag("again", opt.Again...), newFlag("done", opt.Done...))
}

// queueSettings are the flags that say where the legacy queues of a saved plan are, if
// they are not in the default places.
func queueSettings(a *migrate.Approved) (flags []flagWords) {
	own, def := a.Settings.Queues, migrate.DefaultQueues()
	for _, q := range queueFlags {
		if nodes := own.Nodes[q.kind]; !slices.Equal(nodes, def.Nodes[q.kind]) {
			flags = append(flags, newFlag(q.flag, listWord(nodes...)))
		}
	}
	if !slices.Equal(own.Locks, def.Locks) {
		flags = append(flags, newFlag("locks", listWord(own.Locks...)))
	}
	return flags
}

// quarantineFlag names the quarantine file of a target: the given one, or else the
// default one if it exists in this folder.
func quarantineFlag(given string, target endpoint) flagWords {
	if given == "" {
		given = "FILE"
		if name := quarantineFile(target); regular(name) {
			given = name
		}
	}
	return newFlag("quarantine", given)
}

func regular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// listWord is the value of a flag that takes a list: a line of CSV.
func listWord(values ...string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(values) // a builder takes all
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}

// shellWord is a word as a shell takes it.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)
