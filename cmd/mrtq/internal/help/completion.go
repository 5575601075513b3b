package help

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mrtq/cmd/mrtq/internal/settings"
	"mrtq/internal/layout/merritt"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/newqueue"
)

// CompleteFlags tells the shell's completion the values of all flags that have a fixed set of
// values, or some that have names.
func CompleteFlags(root *cobra.Command) {
	statuses := []string{"bad"}
	for s := legacy.Pending; s.Valid(); s++ {
		statuses = append(statuses, s.String())
	}
	named := map[string][]string{ // that take other values, too, or several
		"only": Texts(newqueue.QueueHolds), "queue": Texts(migrate.QueueKinds), "status": statuses,
		"layout": merritt.Names, "dialect": Texts(newqueue.Dialects), "backend": {"embedded", "jvm", "docker"}, "again": {"all"},
	}
	for _, cmd := range root.Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			values := settings.Choices(f)
			if values == nil {
				values = named[f.Name]
			}
			if values != nil {
				// The error says that the flag is completed already.
				_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
			}
		})
	}
}

// Texts returns names as strings.
func Texts[T ~string](list []T) (names []string) {
	for _, x := range list {
		names = append(names, string(x))
	}
	return names
}
