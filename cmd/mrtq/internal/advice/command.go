package advice

import (
	"cmp"
	"encoding/csv"
	"regexp"
	"slices"
	"strings"

	"mrtq/migrate/migration"
)

// Flag is a flag of a command that is printed. With several values, it is repeated.
// Without any it is a switch.
type Flag struct {
	Name   string
	Values []string
}

// Set returns a flag with values; none at all if there are no values.
func Set(name string, values ...string) []Flag {
	if len(values) == 0 {
		return nil
	}
	return []Flag{{name, values}}
}

// shellVariable begins a value that is a variable of the shell, because mrtq does not know it, or must not
// show it. If the variable is not set, the command refuses the empty value.
const shellVariable = "\x00"

// ACL is the value of --acl in a command: an ACL may hold a digest, which is secret.
const ACL = shellVariable + "ACL"

// Switch returns a flag without a value.
func Switch(name string) Flag { return Flag{Name: name} }

func (f Flag) words() (words []string) {
	if len(f.Values) == 0 {
		return []string{"--" + f.Name}
	}
	for _, v := range f.Values {
		words = append(words, "--"+f.Name, v)
	}
	return words
}

// once are the flags that say what one call does or prints. The next command has none of
// them, unless a row of the table says so.
var once = []string{"below", "by", "collection", "dry-run", "every", "force", "help", "in", "ledger-damaged", "only", "others", "out", "output", "plan", "quarantine",
	"record-is", "removed", "vanished", "verbose", "version", "why", "workers-stopped", "yes"}

// first are the flags that only plan, rehearse and migrate hand to each other. A command for a later
// step leaves them out: so if the target is mistyped then, it is refused.
var first = []string{"dialect", "new-queue", "restored", "note"}

// QueueFlag is a flag that names the legacy queues of a kind.
type QueueFlag struct {
	Kind migration.QueueKind
	Flag string
}

// QueueFlags are the flags that say where the legacy queues are.
var QueueFlags = []QueueFlag{
	{migration.Ingest, "ingest"},
	{migration.Inventory, "inventory"},
	{migration.AccessSmall, "access-small"},
	{migration.AccessLarge, "access-large"},
}

const locks = "locks"

func namesQueue(flag string) bool {
	return flag == locks || slices.ContainsFunc(QueueFlags, func(q QueueFlag) bool { return q.Flag == flag })
}

func (s Situation) queues() (flags []Flag) {
	is, usual := s.Run.Origin.Queues, migration.DefaultQueues()
	add := func(flag string, is, usual []string) {
		if !slices.Equal(is, usual) {
			flags = append(flags, Set(flag, List(is...))...)
		}
	}
	for _, q := range QueueFlags {
		add(q.Flag, is.Nodes[q.Kind], usual.Nodes[q.Kind])
	}
	add(locks, is.Locks, usual.Locks)
	return flags
}

func isPlanning(command string) bool {
	return command == "plan" || command == "migrate" || command == "rehearse"
}

// Command returns a command to run next: with its flags, and with those flags of this command
// that it needs, too. It can be pasted into a shell.
func (a Adviser) Command(name string, args []string, flags ...Flag) string {
	for _, f := range a.Given {
		switch {
		case slices.Contains(once, f.Name), hasFlag(flags, f.Name), !a.Takes(name, f.Name):
		case slices.Contains(first, f.Name) && !(isPlanning(a.Name) && isPlanning(name)):
		case isChoice(f.Name) && !isPlanning(name):
		default:
			flags = append(flags, f)
		}
	}
	return commandLine(name, args, flags)
}

// Again returns the command that runs, with more flags.
func (a Adviser) Again(flags ...Flag) string {
	for _, f := range a.Given {
		if !hasFlag(flags, f.Name) {
			flags = append(flags, f)
		}
	}
	return commandLine(a.Name, a.Args, flags)
}

// Really returns the command that runs, without --dry-run and for people, with more flags.
func (a Adviser) Really(flags ...Flag) string {
	a.Given = without(a.Given, "dry-run", "output")
	return a.Again(flags...)
}

func without(flags []Flag, names ...string) []Flag {
	return slices.DeleteFunc(slices.Clone(flags), func(f Flag) bool { return slices.Contains(names, f.Name) })
}

func hasFlag(flags []Flag, name string) bool {
	return slices.ContainsFunc(flags, func(f Flag) bool { return f.Name == name })
}

func commandLine(name string, args []string, flags []Flag) string {
	flags = slices.Clone(flags)
	slices.SortStableFunc(flags, func(a, b Flag) int {
		return cmp.Or(cmp.Compare(rank(a.Name), rank(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	words := append([]string{"mrtq", name}, args...)
	for _, f := range flags {
		words = append(words, f.words()...)
	}
	for i, word := range words {
		words[i] = Word(word)
		if name, is := strings.CutPrefix(word, shellVariable); is {
			words[i] = `"$` + name + `"`
		}
	}
	return strings.Join(words, " ")
}

// rank is a flag's place on a command line. First is what the command is about, then what a
// first migration needs, then the choices. All others follow, by name.
func rank(name string) int {
	order := []string{"plan", "new-queue", "dialect"}
	for _, c := range migration.AllChoices {
		order = append(order, c.Name)
	}
	if i := slices.Index(order, name); i >= 0 {
		return i
	}
	return len(order)
}

func isChoice(flag string) bool {
	return flag == "time" || slices.ContainsFunc(migration.AllChoices, func(c migration.Choice) bool { return c.Name == flag })
}

// Word returns a word as a shell takes it.
func Word(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// List returns the value of a flag that takes a list: a line of CSV.
func List(values ...string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(values) // a builder takes all
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}
