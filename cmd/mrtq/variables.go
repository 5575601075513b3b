package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// otherVariables are the MRTQ_* variables that don't set a flag.
var otherVariables = []string{
	"MRTQ_CONFIG",
	authVariable,
	addressVariable, // mrtq zk sets it for its COMMAND, which may be mrtq

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

// checkVariables refuses unknown MRTQ_* variables, because otherwise a misspelt setting
// would silently have no effect.
func checkVariables(root *cobra.Command, environment []string) error {
	known := slices.Clone(otherVariables)
	for name := range flagNames(root) {
		known = append(known, variable(name))
	}
	for _, entry := range environment {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "MRTQ_") || slices.Contains(known, name) {
			continue
		}
		flag := "--" + strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "MRTQ_"), "_", "-"))
		return usageError("$%s: no command has a flag %s; unset it, or see the flags with mrtq COMMAND --help", name, flag)
	}
	return nil
}
