package settings

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ErrEmpty is the error of a value that is empty. A command that took it could do to everything what was meant for one
// queue.
var ErrEmpty = errors.New("it is empty, perhaps because a shell variable is not set")

const meansNone = `"" means none`

// RefuseEmpty makes every flag of a command, and of those below it, refuse an empty value, unless its help says what
// that means.
func RefuseEmpty(cmd *cobra.Command) {
	for _, flags := range []*pflag.FlagSet{cmd.PersistentFlags(), cmd.Flags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			list, isList := f.Value.(pflag.SliceValue)
			switch {
			case strings.Contains(f.Usage, meansNone):
			case isList:
				f.Value = filledList{f.Value, list}
				if f.DefValue == "[]" { // pflag knows only of its own lists that this is no default to show
					f.DefValue = ""
				}
			case Choices(f) == nil: // a choice refuses it anyway
				f.Value = filled{f.Value}
				if f.DefValue == "0s" {
					f.DefValue = "" // as above
				}
			}
		})
	}
	for _, c := range cmd.Commands() {
		RefuseEmpty(c)
	}
}

type filled struct{ pflag.Value }

func (f filled) Set(s string) error {
	if s == "" {
		return ErrEmpty
	}
	return f.Value.Set(s)
}

type filledList struct {
	pflag.Value
	pflag.SliceValue
}

func (f filledList) Set(s string) error {
	if s == "" {
		return ErrEmpty
	}
	if err := f.Value.Set(s); err != nil {
		return err
	}
	if slices.Contains(f.GetSlice(), "") { // as in "ingest,"
		return ErrEmpty
	}
	return nil
}
