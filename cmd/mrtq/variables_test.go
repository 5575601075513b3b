package main

import (
	"strings"
	"testing"
)

// Each flag has a variable. mrtq refuses an MRTQ_* variable that it does not know.
func TestVariables(t *testing.T) {
	root := newRoot()
	var all []string
	for name := range flagNames(root) {
		all = append(all, variable(name)+"=x")
	}
	for _, name := range otherVariables {
		all = append(all, name+"=x")
	}
	if err := checkVariables(root, append(all, "PATH=/bin", "MRTQ=x", "=C:=x", "")); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"MRTQ_CONSUMD=block", "MRTQ_=", "MRTQ_HELP=x", "MRTQ_consumed=block"} {
		err := checkVariables(root, append(all, bad))
		name, _, _ := strings.Cut(bad, "=")
		if err == nil || exitCode(err) != exitUsage || !strings.HasPrefix(err.Error(), "$"+name+": no command has a flag ") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
