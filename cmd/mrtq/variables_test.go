package main

import (
	"strings"
	"testing"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/settings"
)

// A variable sets a flag of the connection or a legacy queue node, and mrtq says so. A flag counts
// more. A variable that sets nothing is refused: it is misspelt, or its flag could lose a job.
func TestVariables(t *testing.T) {
	const plan = "plan file:testdata/legacy.ndjson file:none --new-queue --dialect design --undecodable quarantine"
	for _, c := range []struct {
		variable, value, command string
		code                     int
		says                     string // at the beginning of stderr
	}{
		{"MRTQ_MAX_RATE", "5000", plan, 0, "$MRTQ_MAX_RATE: --max-rate 5000\n"},
		{"MRTQ_MAX_RATE", "5000", plan + " --max-rate 0", 0, "Plan: "},
		{"MRTQ_INGEST", "/none", plan, 1, "$MRTQ_INGEST: --ingest /none\n"},
		{"MRTQ_INGEST", "/none", "zk -- true", 0, ""}, // it is a flag of other commands
		{"MRTQ_TIMEOUT", "soon", plan, 2, `mrtq: $MRTQ_TIMEOUT: invalid argument "soon" for "--timeout" flag: expected a duration, such as 30s or 2m`},
		{"MRTQ_TLS_CA", "", plan, 2, `mrtq: $MRTQ_TLS_CA: invalid argument "" for "--tls-ca" flag: it is empty, perhaps because a shell variable is not set`},
		{"MRTQ_CONSUMED", "pending", plan, 2, "mrtq: $MRTQ_CONSUMED: no variable has this name; unset it, and give a flag (mrtq COMMAND --help). Only the connection"},
		{"MRTQ_CONSUMD", "pending", "inspect --help", 0, ""},
	} {
		t.Run(c.variable+"="+c.value, func(t *testing.T) {
			t.Setenv(c.variable, c.value)
			if code, says := runInProcess(strings.Fields(c.command)...); code != c.code || !strings.HasPrefix(says, c.says) {
				t.Errorf("%s: exit code %d: %s", c.command, code, says)
			}
		})
	}
	var all []string
	for _, name := range settings.FromVariables {
		all = append(all, settings.Variable(name)+"=x")
		if !knownFlags(newRoot())[name] {
			t.Errorf("no command has a flag --%s", name)
		}
	}
	for _, name := range settings.OtherVariables {
		all = append(all, name+"=x")
	}
	if err := settings.CheckVariables(append(all, "PATH=/bin", "MRTQ=x", "=C:=x", "")); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"MRTQ_CONSUMD=leave", "MRTQ_CONSUMED=leave", "MRTQ_FORCE=true", "MRTQ_YES=true", "MRTQ_=", "MRTQ_CONFIG=x", "MRTQ_timeout=1s"} {
		if err := settings.CheckVariables(append(all, bad)); exit.Code(err) != exit.Usage {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
