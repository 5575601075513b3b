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

func init() {
	cobra.EnableCommandSorting = false // commands are listed in the order in which they are used
}

// AddGroup adds commands to root. Its help lists them together, in this order. Commands without a
// group, such as cobra's own, are listed last.
func AddGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
	}
	root.AddCommand(commands...)
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

type flagGroup struct {
	title string
	names []string
}

var flagGroups = []flagGroup{
	{"Choices about records", []string{"consumed", "failed", "completed", "deleted", "undecodable", "inventory-records", "unserviceable", "max-priority", "time", "again", "record-is", "vanished", "removed"}},
	{"Legacy queue nodes (a queue flag can be repeated, and \"\" means none)", []string{"ingest", "inventory", "access-small", "access-large", "locks"}},
}

// writeFlags lists the flags of a command, in their groups. The values of a flag are in its text,
// because they would make the column of the names too wide.
func writeFlags(b *strings.Builder, cmd *cobra.Command) {
	of := func(f *pflag.Flag) int {
		return slices.IndexFunc(flagGroups, func(g flagGroup) bool { return slices.Contains(g.names, f.Name) })
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

// NearFlag returns a flag of a command that is like a mistyped one; "" if none is. cobra only
// suggests commands, so each flag is one here.
func NearFlag(cmd *cobra.Command, mistyped string) string {
	flags := &cobra.Command{SuggestionsMinimumDistance: 2}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		flags.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
	})
	for _, name := range flags.SuggestionsFor(mistyped) {
		return name
	}
	return ""
}

func writeCommands(b *strings.Builder, cmd *cobra.Command) {
	rest := "Other"
	if cmd.HasParent() {
		rest = "Commands"
	}
	for _, group := range slices.Concat(cmd.Groups(), []*cobra.Group{{Title: rest}}) {
		title := fmt.Sprintf("\n%s:\n", group.Title)
		for _, c := range cmd.Commands() {
			if c.GroupID == group.ID && (c.IsAvailableCommand() || c.Name() == "help" || c.IsAdditionalHelpTopicCommand()) {
				fmt.Fprintf(b, "%s  %-11s  %s\n", title, c.Name(), strings.ToLower(c.Short[:1])+c.Short[1:])
				title = ""
			}
		}
	}
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
