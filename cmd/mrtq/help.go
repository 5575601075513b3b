package main

import (
	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/exit"
)

// helpCmd is the command mrtq help. It replaces cobra's own, which prints the help of
// mrtq for an unknown command, without an error.
func helpCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "show what a command does, and its flags",
		RunE: func(cmd *cobra.Command, words []string) error {
			found, rest, err := cmd.Root().Find(words)
			switch {
			case err != nil:
				return exit.Usagef("%w", err)
			case len(rest) > 0 && found == cmd.Root():
				return noSuchCommand(found, rest)
			case len(rest) > 0:
				return exit.Usagef("%q is one argument too many; usage: mrtq help [COMMAND]", rest[0])
			}
			found.InitDefaultHelpFlag() // so that it is listed
			return found.Help()
		},
	}
}

// addCompletion adds cobra's command for completion in shells. It replaces the texts, and
// adds an error for an unknown shell.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	c, _, err := root.Find([]string{"completion"})
	if err != nil {
		return // cobra adds it only to a command that has others
	}
	c.Short = "write a completion script for a shell"
	c.Long = `Write the script that completes mrtq's commands and flags in a shell: bash, fish,
powershell or zsh. mrtq completion SHELL --help says where to put it.`
	c.Example = `  mrtq completion bash`
	c.RunE = func(*cobra.Command, []string) error {
		return exit.Usagef("which shell? usage: mrtq completion bash|fish|powershell|zsh")
	}
	c.Args = func(_ *cobra.Command, given []string) error {
		if len(given) > 0 {
			return exit.Usagef("completion for %q: want bash, fish, powershell or zsh", given[0])
		}
		return nil
	}
}
