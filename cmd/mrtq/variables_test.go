package main

import (
	"strings"
	"testing"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/cmd/mrtq/internal/settings"
)

// Each flag has a variable. mrtq refuses an MRTQ_* variable that it does not know.
func TestVariables(t *testing.T) {
	root := newRoot()
	var all []string
	for name := range settings.FlagNames(root) {
		all = append(all, settings.Variable(name)+"=x")
	}
	for _, name := range settings.OtherVariables {
		all = append(all, name+"=x")
	}
	if err := settings.CheckVariables(root, append(all, "PATH=/bin", "MRTQ=x", "=C:=x", "")); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"MRTQ_CONSUMD=block", "MRTQ_=", "MRTQ_HELP=x", "MRTQ_consumed=block"} {
		err := settings.CheckVariables(root, append(all, bad))
		name, _, _ := strings.Cut(bad, "=")
		if err == nil || exit.Code(err) != exit.Usage || !strings.HasPrefix(err.Error(), "$"+name+": no command has a flag ") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
