package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mrtq/cmd/mrtq/internal/settings"
	"mrtq/legacy"
	"mrtq/migrate"
	"mrtq/migrate/layouts"
	"mrtq/newqueue"
)

// completeFlags tells the shell's completion the values of all flags that have a fixed set of
// values, or some that have names.
func completeFlags(root *cobra.Command) {
	statuses := []string{"bad"}
	for s := legacy.Pending; s.Valid(); s++ {
		statuses = append(statuses, s.String())
	}
	named := map[string][]string{ // that take other values, too, or several
		"only": texts(newqueue.QueueHolds), "queue": texts(migrate.QueueKinds), "status": statuses,
		"layout": layouts.Names, "dialect": texts(newqueue.Dialects), "backend": {"embedded", "jvm", "docker"}, "again": {"all"},
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

func texts[T ~string](list []T) (names []string) {
	for _, x := range list {
		names = append(names, string(x))
	}
	return names
}
