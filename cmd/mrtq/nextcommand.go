package main

import (
	"encoding/csv"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mrtq/migrate"
	"mrtq/newqueue"
)

// A command that mrtq tells a person to run next is one that they can paste: it has
// the sides, what it needs, and the flags that they gave and that it has too.

// typedFlag is a flag as it was given on the command line. What the settings file
// or a variable says, they say to the next command as well.
type typedFlag struct {
	name  string
	words []string
}

// typed are the flags that were given on a command line, in the order of their
// names.
func typed(cmd *cobra.Command) (flags []typedFlag) {
	cmd.Flags().Visit(func(f *pflag.Flag) { flags = append(flags, typedFlag{f.Name, flagWords(f)}) })
	return flags
}

func flagWords(f *pflag.Flag) (words []string) {
	flag := "--" + f.Name
	if f.Value.Type() == "bool" {
		if f.Value.String() == "true" {
			return []string{flag}
		}
		return []string{flag + "=" + f.Value.String()}
	}
	list, ok := f.Value.(pflag.SliceValue)
	switch {
	case f.Name == "acl": // it may hold a digest, which nobody else is to see
		return []string{flag, "ACL"}
	case ok && f.Value.Type() == "stringArray":
		for _, value := range list.GetSlice() {
			words = append(words, flag, value)
		}
		return words
	case ok:
		return []string{flag, listWord(list.GetSlice()...)}
	}
	return []string{flag, f.Value.String()}
}

// itsOwn are flags that say what one call does or prints. They are not carried over.
var itsOwn = []string{"output", "out", "plan", "quarantine", "run", "force", "unfinished", "dry-run", "metrics", "only", "collection", "by", "why", "hold-again",
	"wide", "verbose", "accept", "check", "help", "version"}

// command is an mrtq command to run next, with the flags that were given to this
// one.
func (a *app) command(name string, words ...string) string {
	line := []string{"mrtq", name}
	var next *cobra.Command
	if a.commands != nil {
		next, _, _ = a.commands.Find(line[1:])
	}
	for _, f := range a.typed {
		switch {
		case slices.Contains(itsOwn, f.name), slices.Contains(words, "--"+f.name), next == nil || next.Flag(f.name) == nil:
		case isPolicy(f.name) && !takesPolicies(name):
		default:
			words = append(words, f.words...)
		}
	}
	for _, word := range words {
		line = append(line, shellWord(word))
	}
	return strings.Join(line, " ")
}

// commandOfFile is command for one that takes all settings of the migration from a
// file: only the flags of the connection are carried over.
func (a *app) commandOfFile(name string, words ...string) string {
	all := a.typed
	defer func() { a.typed = all }()
	a.typed = slices.DeleteFunc(slices.Clone(all), func(f typedFlag) bool {
		return a.commands.PersistentFlags().Lookup(f.name) == nil && f.name != "max-rate"
	})
	return a.command(name, words...)
}

// takesPolicies reports whether a command must be told the policies. The others take
// them from the run's record.
func takesPolicies(name string) bool { return name == "plan" || name == "migrate" }

func isPolicy(flag string) bool {
	return flag == "time" || slices.ContainsFunc(migrate.PolicyChoices, func(c migrate.PolicyChoice) bool { return c.Name == flag })
}

// policyWords are the policies that are not the default ones, as flags.
func policyWords(p migrate.Policies) (words []string) {
	for _, c := range migrate.PolicyChoices {
		if v := *c.Value(&p); v != "" && v != c.Values[0] {
			words = append(words, "--"+c.Name, v)
		}
	}
	return words
}

// runWords are the sides and settings of a run, as arguments of plan and migrate.
func runWords(source string, target endpoint, d newqueue.Dialect, p migrate.Policies) []string {
	return append([]string{source, target.text, "--dialect", string(d)}, policyWords(p)...)
}

// planWords are the settings of a saved plan, as flags of plan.
func planWords(a *migrate.Approved) []string {
	opt := a.Options()
	var words []string
	if opt.Dialect != "" {
		words = append(words, "--dialect", string(opt.Dialect))
	}
	words = append(words, policyWords(opt.Policies)...)
	words = append(words, queueWords(a)...)
	if opt.Packet != migrate.DefaultPacket {
		words = append(words, "--packet", strconv.Itoa(opt.Packet))
	}
	if t := a.Settings.Time; t != "" && t != "auto" {
		words = append(words, "--time", t)
	}
	for _, record := range opt.Again {
		words = append(words, "--again", record)
	}
	for _, record := range opt.Done {
		words = append(words, "--done", record)
	}
	return words
}

// queueWords say where the legacy queues of a saved plan are, if not where they are
// by default.
func queueWords(a *migrate.Approved) (words []string) {
	own, def := a.Settings.Queues, migrate.DefaultQueues()
	for _, q := range queueFlags {
		if nodes := own.Nodes[q.kind]; !slices.Equal(nodes, def.Nodes[q.kind]) {
			words = append(words, "--"+q.flag, listWord(nodes...))
		}
	}
	if !slices.Equal(own.Locks, def.Locks) {
		words = append(words, "--locks", listWord(own.Locks...))
	}
	return words
}

// quarantineWords name the quarantine file of a target: the one that was given, else
// the one that migrate writes by itself, if it is here.
func quarantineWords(given string, target endpoint) []string {
	if given == "" {
		given = "FILE"
		if name := quarantineFile(target); regular(name) {
			given = name
		}
	}
	return []string{"--quarantine", given}
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
