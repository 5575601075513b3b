package accept

import (
	"os"
	"testing"

	"github.com/cucumber/godog"

	"mrtq/newqueue"
)

const mrtZKDriver = "MRTQ_MRT_ZK_DRIVER"

// TestMrtZKDriver: CDL's library differs from the scenarios exactly as its list of known deviations says.
func TestMrtZKDriver(t *testing.T) {
	command := os.Getenv(mrtZKDriver)
	if command == "" {
		t.Skip("no driver of mrt-zk, whose jar is not in Debian: build it with harness/drivers/mrt-zk/build.sh, and set " + mrtZKDriver + " to the command that this prints")
	}
	opt := drivenBy(t, command, newqueue.MrtZK)
	opt.KnownFailures = knownOfMrtZK(t)
	r, err := Run(t.Context(), opt)
	if err != nil || r.Scenarios < 400 || r.NotOffered > 20 {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, p := range r.Problems {
		t.Error(p)
	}
}

// TestMrtZKKnown: the list names each scenario once, and only those that there are. So it needs no jar to notice that a
// scenario has a new name.
func TestMrtZKKnown(t *testing.T) {
	scenarios := map[string]bool{}
	eachScenario(t, newqueue.MrtZK, "~@newqueue", func(sc *godog.Scenario) { scenarios[sc.Name] = true })
	if len(scenarios) < 400 {
		t.Fatalf("only %d scenarios", len(scenarios))
	}
	listed := map[string]bool{}
	for _, k := range knownOfMrtZK(t) {
		switch {
		case !scenarios[k.Scenario]:
			t.Errorf("line %d: there is no scenario %q", k.line, k.Scenario)
		case listed[k.Scenario]:
			t.Errorf("line %d: the scenario %q is listed twice", k.line, k.Scenario)
		}
		listed[k.Scenario] = true
	}
}

func knownOfMrtZK(t *testing.T) []KnownFailure {
	t.Helper()
	file, err := os.Open("../drivers/mrt-zk/mrt-zk.known")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	known, err := ParseKnownFailures(file)
	if err != nil || len(known) == 0 {
		t.Fatalf("%d known deviations, %v", len(known), err)
	}
	return known
}
