package settings

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mrtq/cmd/mrtq/internal/advice"
	"mrtq/cmd/mrtq/internal/exit"
)

// FlagError says in plain words what is wrong with a flag on the command line.
func FlagError(cmd *cobra.Command, err error) error {
	var bad *pflag.InvalidValueError
	var lacks *pflag.ValueRequiredError
	var unknown *pflag.NotExistError
	text := err.Error()
	switch {
	case errors.As(err, &bad):
		text = fmt.Sprintf("--%s %s: %s", bad.GetFlag().Name, advice.Word(bad.GetValue()), wants(bad))
	case errors.As(err, &lacks):
		text = fmt.Sprintf("--%s needs a value", lacks.GetFlag().Name)
	case errors.As(err, &unknown):
		name := "--" + unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			name = name[1:]
		}
		text = fmt.Sprintf("%s has no flag %s", cmd.CommandPath(), name)
	}
	return exit.Usagef("%s; see %s --help", text, cmd.CommandPath())
}

// valueError says in plain words what is wrong with the value of a setting. where is the
// place in which the value was found.
func valueError(where string, err error) error {
	var bad *pflag.InvalidValueError
	if errors.As(err, &bad) {
		return exit.Usagef("%s %q: %s", where, bad.GetValue(), wants(bad))
	}
	return exit.Usagef("%s: %w", where, err)
}

// wants says what value a flag takes.
func wants(bad *pflag.InvalidValueError) string {
	switch bad.GetFlag().Value.Type() {
	case "int", "int64", "uint", "uint64":
		if errors.Is(bad, strconv.ErrRange) {
			return "expected a smaller number"
		}
		return "expected a whole number, such as 1000"
	case "duration":
		return "expected a time with its unit, such as 500ms, 30s or 5m"
	case "bool":
		return "expected true or false"
	}
	return bad.Unwrap().Error()
}
