package accept

import (
	"os/exec"
	"strconv"
	"testing"

	"mrtq/harness"
	"mrtq/harness/accept/library"
	"mrtq/newqueue"
)

// TestKazooDriver: a driver in Python passes every scenario that it offers, so the protocol needs nothing of Go.
func TestKazooDriver(t *testing.T) {
	// Debian's package is for Debian's Python, which need not be the first in PATH.
	python := ""
	for _, candidate := range []string{"python3", "/usr/bin/python3"} {
		if python == "" && exec.Command(candidate, "-c", "import kazoo").Run() == nil {
			python = candidate
		}
	}
	if python == "" {
		const missing = "no driver in Python: install python3-kazoo"
		if harness.Required("python3-kazoo") || harness.Required(string(harness.JVM)) { // a machine that has all
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	r, err := Run(t.Context(), drivenBy(t, python+" ../drivers/kazoo_jobs.py", newqueue.Design))
	if err != nil || !r.OK() {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, row := range r.Coverage {
		if n, err := strconv.Atoi(row.ID[1:]); row.ID[0] == 'J' && err == nil && n >= 2 && n <= 19 && row.Result != Passed {
			t.Errorf("%s %s: %s %v", row.ID, row.What, row.Result, row.Why)
		}
	}
}

// drivenBy are the options of a run in which a driver plays all roles, in a dialect.
func drivenBy(t *testing.T, command string, d newqueue.Dialect) Options {
	t.Helper()
	server := address(t)
	driver, err := library.Start(t.Context(), library.Options{Command: command, Servers: server, Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(driver.Stop)
	opt := Options{Address: server, Dialects: []newqueue.Dialect{d}, Parallel: 4, Libraries: map[library.Role]library.Library{}}
	for _, role := range library.Roles {
		opt.Libraries[role] = driver
	}
	return opt
}
