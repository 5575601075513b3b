package settings

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/exit"
)

// Variables that set no flag.
const (
	// AuthVariable can hold credentials instead of a file. There is no flag for them,
	// because every process on the machine can read flags.
	AuthVariable = "MRTQ_ZK_AUTH"
	// AddressVariable is the address that mrtq zk gives to its COMMAND.
	AddressVariable = "MRTQ_ADDRESS"
)

// OtherVariables are the MRTQ_* variables that don't set a flag.
var OtherVariables = []string{
	"MRTQ_CONFIG",
	AuthVariable,
	AddressVariable, // mrtq zk sets it for its COMMAND, which may be mrtq

	// These belong to the harness, and to the project's tests and demonstration,
	// which run mrtq.
	"MRTQ_ZK_IMAGE",
	"MRTQ_REQUIRE_BACKENDS",
	"MRTQ_TEST_BACKEND",
	"MRTQ_TEST_ENSEMBLES",
	"MRTQ_TAGS",
	"MRTQ_HARNESS_CHILD",
	"MRTQ_MINIZK_FIGURES",
	"MRTQ_DEMO_ADDRESS",
}

// CheckVariables refuses unknown MRTQ_* variables, because otherwise a misspelt setting
// would silently have no effect.
func CheckVariables(root *cobra.Command, environment []string) error {
	known := slices.Clone(OtherVariables)
	for name := range FlagNames(root) {
		known = append(known, Variable(name))
	}
	for _, entry := range environment {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "MRTQ_") || slices.Contains(known, name) {
			continue
		}
		flag := "--" + strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "MRTQ_"), "_", "-"))
		return exit.Usagef("$%s: no command has a flag %s; unset it, or see the flags with mrtq COMMAND --help", name, flag)
	}
	return nil
}
