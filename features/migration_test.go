package features_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"mrtq/features"
	"mrtq/harness"
	"mrtq/harness/accept"
	"mrtq/harness/accept/migration"
	_ "mrtq/harness/docker" // the docker backend
)

var everywhere = flag.Bool("everywhere", false, "run all scenarios on Apache's servers, too")

// elsewhere are the tags of the scenarios that always run on Apache's servers. All run on the
// embedded one.
var elsewhere = map[harness.Backend]string{
	harness.JVM:    "@M3,@M10,@M12,@H6", // there and back, a killed process, a lost server, the way back
	harness.Docker: "@M12",
}

var mrtq string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "mrtq-features-")
	if err == nil {
		mrtq = filepath.Join(dir, "mrtq")
		var out []byte
		if out, err = exec.Command("go", "build", "-ldflags", "-X mrtq/internal/part.small=yes", "-o", mrtq, "mrtq/cmd/mrtq").CombinedOutput(); err != nil {
			err = fmt.Errorf("%w\n%s", err, out)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "build mrtq:", err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// TestMigration runs the scenarios of the migration and of the services on every backend.
func TestMigration(t *testing.T) {
	for _, backend := range harness.Backends() {
		tags := elsewhere[backend]
		if *everywhere {
			tags = ""
		}
		t.Run(string(backend), func(t *testing.T) {
			t.Parallel() // they wait for servers, clocks and sessions more than they compute
			server := harness.ForTest(t, backend, harness.Options{})
			r, err := migration.Run(t.Context(), migration.Options{
				Server: server, Command: mrtq, Files: features.Migration, Options: accept.Options{Tags: cmp.Or(os.Getenv("MRTQ_TAGS"), tags), Out: t.Output()},
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range r.Problems {
				t.Error(p)
			}
		})
	}
}
