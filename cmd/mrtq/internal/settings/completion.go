package settings

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const offered = "mrtq_offered"

// Offer says which values of a flag [Complete] offers. [Choice] does so itself.
func Offer(f *pflag.FlagSet, name string, values ...string) {
	f.SetAnnotation(name, offered, values)
}

// Complete lets a shell complete the values of the flags of a command, and of those below it.
func Complete(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if values := f.Annotations[offered]; values != nil {
			cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
		}
	})
	for _, c := range cmd.Commands() {
		Complete(c)
	}
}
