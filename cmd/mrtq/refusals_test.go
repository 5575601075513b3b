package main

import (
	"os"
	"strings"
	"testing"

	"mrtq/cmd/mrtq/internal/exit"
)

// A wrong command line gives one line that says what is wrong, and exit code 2. testdata/refusals has
// the commands and what they say. -update writes it.
func TestRefusals(t *testing.T) {
	t.Parallel()
	const path = "testdata/refusals"
	text := value(os.ReadFile(path))(t)
	var all strings.Builder
	for line := range strings.Lines(string(text)) {
		command, is := strings.CutPrefix(line, "$ mrtq ")
		if !is {
			continue
		}
		code, says := runInProcess(strings.Fields(command)...)
		if code != exit.Usage || strings.Count(says, "\n") != 1 {
			t.Errorf("mrtq %s: exit code %d: %s", command, code, says)
		}
		all.WriteString(line + says)
	}
	golden(t, path, all.String())
}

// Without a command, mrtq prints its help. --version says how it was built.
func TestWithoutCommand(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{"": "\nCutover:\n", "--version": ", go1."} {
		var out, said strings.Builder
		if code := run(strings.Fields(command), &out, &said); code != 0 || said.Len() > 0 || !strings.Contains(out.String(), want) {
			t.Errorf("mrtq %s: exit code %d: %s%s", command, code, out.String(), said.String())
		}
	}
}
