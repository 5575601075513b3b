// Package settings has what flags have in common: some can be set by a variable, some have a
// fixed set of values, and none takes an empty value without saying so.
//
//	settings.go  flags from variables
//	flags.go     flags with a fixed set of values
//	empty.go     empty values
package settings

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mrtq/cmd/mrtq/internal/exit"
)

// FromVariables are the flags that a variable can set: how to reach a server, and where the
// legacy queues are. Every other flag must be on the command line, because a variable that was
// set for an earlier command must not decide what this one does.
var FromVariables = []string{
	"timeout", "session-timeout", "max-response", "max-rate", "auth-file",
	"tls", "tls-ca", "tls-cert", "tls-key", "tls-server-name",
	"ingest", "inventory", "access-small", "access-large", "locks",
}

// Variables that set no flag.
const (
	// AuthVariable can hold credentials instead of a file. There is no flag for them,
	// because every process on the machine can read flags.
	AuthVariable = "MRTQ_ZK_AUTH"
	// AddressVariable is the address that mrtq zk gives to its COMMAND.
	AddressVariable = "MRTQ_ADDRESS"
	// SecureAddressVariable and SecureFileVariable are the address of the TLS port, and the PEM file for it, that
	// mrtq zk --secure gives to its COMMAND.
	SecureAddressVariable = "MRTQ_SECURE_ADDRESS"
	SecureFileVariable    = "MRTQ_SECURE_FILE"
)

// OtherVariables are the MRTQ_* variables that don't set a flag.
var OtherVariables = []string{
	AuthVariable,
	AddressVariable, // mrtq zk sets these for its COMMAND, which may be mrtq
	SecureAddressVariable,
	SecureFileVariable,

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
	"MRTQ_MRT_ZK_DRIVER",
}

// Variable returns the environment variable of a flag.
func Variable(flag string) string {
	return "MRTQ_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Apply sets the flags of a command that a variable sets and that were not given on the command
// line, and says so for each. It refuses a variable that sets nothing, and a value that its
// flag refuses.
func Apply(cmd *cobra.Command, say func(format string, args ...any)) error {
	if err := CheckVariables(os.Environ()); err != nil {
		return err
	}
	for _, flag := range FromVariables {
		name := Variable(flag)
		value, isSet := os.LookupEnv(name)
		f := cmd.Flags().Lookup(flag)
		if !isSet || f == nil || f.Changed {
			continue
		}
		if err := cmd.Flags().Set(flag, value); err != nil {
			return exit.Usagef("$%s: %w", name, Refusal(err))
		}
		say("$%s: --%s %s", name, flag, value)
	}
	return nil
}

// CheckVariables refuses MRTQ_* variables that set nothing, because otherwise a misspelt one
// would silently have no effect.
func CheckVariables(environment []string) error {
	known := slices.Clone(OtherVariables)
	for _, flag := range FromVariables {
		known = append(known, Variable(flag))
	}
	for _, entry := range environment {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "MRTQ_") && !slices.Contains(known, name) {
			return exit.Usagef("$%s: no variable has this name; unset it, and give a flag (mrtq COMMAND --help). Only the connection and the legacy queue nodes can be set by variables", name)
		}
	}
	return nil
}
