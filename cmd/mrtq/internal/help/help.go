// Package help says what the commands are for, on terminals of 80 columns.
package help

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mrtq/cmd/mrtq/internal/settings"
)

// helpWidth is how wide help is at most. A word that is longer has a line of its own.
const helpWidth = 80

type group struct {
	title string
	names []string
}

// groups are the commands by what they are for, in the order in which they are used. The
// rest, such as cobra's own, is listed last.
var groups = []group{
	{"Cutover", []string{"rehearse", "plan", "migrate", "verify", "release", "follow", "rollback", "complete", "hold"}},
	{"Inspect", []string{"status", "show", "report", "inspect", "check"}},
	{"Servers and tests", []string{"dump", "restore", "zk", "accept"}},
	{"Help topics", []string{"addresses", "settings", "exit-codes"}},
}

// Print prints a command's help.
func Print(cmd *cobra.Command, _ []string) { io.WriteString(cmd.OutOrStdout(), Text(cmd)) }

// Text returns a command's help: what it does, its usage, examples, commands and flags.
func Text(cmd *cobra.Command) string {
	var b strings.Builder
	long := cmd.Long
	if long == "" {
		long = cmd.Short
	}
	b.WriteString(reflow(long) + "\n")
	if cmd.IsAdditionalHelpTopicCommand() {
		return b.String()
	}
	b.WriteString("\nUsage:\n")
	if cmd.Runnable() {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s [command]\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		b.WriteString("\nExamples:\n" + cmd.Example + "\n")
	}
	writeCommands(&b, cmd)
	writeFlags(&b, cmd)
	switch {
	case cmd.HasAvailableSubCommands():
		fmt.Fprintf(&b, "\nFor more about a command: %s COMMAND --help\n", cmd.CommandPath())
	case cmd.Runnable():
		b.WriteString("\nGlobal flags for the connection: mrtq --help\n")
	}
	return b.String()
}

var flagGroups = []group{
	{"Choices about records", []string{"consumed", "failed", "completed", "deleted", "undecodable", "inventory-records", "unserviceable", "max-priority", "time", "again", "record-is", "vanished", "removed"}},
	{"Legacy queue nodes (a queue flag can be repeated, and \"\" means none)", []string{"ingest", "inventory", "access-small", "access-large", "locks"}},
}

// writeFlags lists the flags of a command, in their groups. The values of a flag are in its text,
// because they would make the column of the names too wide.
func writeFlags(b *strings.Builder, cmd *cobra.Command) {
	of := func(f *pflag.Flag) int {
		return slices.IndexFunc(flagGroups, func(g group) bool { return slices.Contains(g.names, f.Name) })
	}
	for i := -1; i < len(flagGroups); i++ {
		title, set := "Flags", pflag.NewFlagSet("", pflag.ContinueOnError)
		if i >= 0 {
			title = flagGroups[i].title
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if of(f) != i || f.Name == "help" && cmd.HasParent() {
				return
			}
			shown := *f
			if values := settings.Choices(f); values != nil {
				last := len(values) - 1
				shown.Usage += ": " + strings.Join(values[:last], ", ") + " or " + values[last]
				shown.Value = choice{f.Value}
			}
			shown.Usage = strings.Replace(shown.Usage, manyOrNone, "", 1)
			set.AddFlag(&shown)
		})
		if set.HasFlags() {
			fmt.Fprintf(b, "\n%s:\n%s", title, set.FlagUsagesWrapped(helpWidth))
		}
	}
}

// manyOrNone is in the text of each flag of the legacy queue nodes, and here in their title.
const manyOrNone = `; can be repeated, and "" means none`

type choice struct{ pflag.Value }

func (choice) Type() string { return "choice" }

// Nearest returns the one of some names that is most like a mistyped one; "" if none is.
func Nearest(mistyped string, names []string) string {
	all := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, name := range names {
		all.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	for _, name := range all.SuggestionsFor(mistyped) {
		return name
	}
	return ""
}

func writeCommands(b *strings.Builder, cmd *cobra.Command) {
	rest := slices.DeleteFunc(slices.Clone(cmd.Commands()), func(c *cobra.Command) bool {
		return !c.IsAvailableCommand() && c.Name() != "help" && !c.IsAdditionalHelpTopicCommand()
	})
	write := func(title string, list []*cobra.Command) {
		if len(list) == 0 {
			return
		}
		fmt.Fprintf(b, "\n%s:\n", title)
		for _, c := range list {
			fmt.Fprintf(b, "  %-11s  %s\n", c.Name(), strings.ToLower(c.Short[:1])+c.Short[1:])
		}
	}
	for _, group := range groups {
		var list []*cobra.Command
		for _, name := range group.names {
			if i := slices.IndexFunc(rest, func(c *cobra.Command) bool { return c.Name() == name }); i >= 0 {
				list, rest = append(list, rest[i]), slices.Delete(rest, i, i+1)
			}
		}
		write(group.title, list)
	}
	title := "Other"
	if cmd.HasParent() {
		title = "Commands"
	}
	write(title, rest)
}

func reflow(s string) string {
	paragraphs := strings.Split(strings.TrimSpace(s), "\n\n")
	for i, p := range paragraphs {
		if !strings.HasPrefix(p, " ") && !strings.HasPrefix(p, "\t") && !strings.Contains(p, "\n ") {
			lines := strings.Split(text.WrapSoft(strings.Join(strings.Fields(p), " "), helpWidth), "\n")
			for j, line := range lines {
				lines[j] = strings.TrimRight(line, " ")
			}
			paragraphs[i] = strings.Join(lines, "\n")
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// Texts returns names as strings.
func Texts[T ~string](list []T) (names []string) {
	for _, x := range list {
		names = append(names, string(x))
	}
	return names
}
