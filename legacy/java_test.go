package legacy

import (
	"bytes"
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/tricky*.ndjson with the java on the PATH")

const javaProgram = "testdata/java/TrickyRecords.java"

// java runs the Java program that these tests compare our code with.
func java(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("javac"); err != nil {
		if strings.Contains(os.Getenv("MRTQ_REQUIRE_BACKENDS"), "jvm") { // CI has installed it
			t.Fatal(err)
		}
		t.Skip("no JDK here: not compared with the JVM's own decoders, only with the golden records")
	}
	cmd := exec.Command("java", append([]string{"-Xshare:auto", "-XX:TieredStopAtLevel=1", javaProgram}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("java: %v\n%s", err, stderr.Bytes())
	}
	return string(out)
}

// TestTricky decodes what the JDK makes of odd properties, and what it reads
// from odd text.
func TestTricky(t *testing.T) {
	if *update { // go test ./legacy -run TestTricky -update
		java(t, "", "write", "testdata")
	}
	nodes := make(map[string][]byte)
	for _, n := range readLines[znode](t, "testdata/tricky.ndjson") {
		nodes[n.Path] = n.Data
	}
	for _, w := range readLines[expected](t, "testdata/tricky.expected.ndjson") {
		t.Run(path.Base(w.Path), func(t *testing.T) {
			data := nodes[w.Path]
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("payload %.300q", data[headerWidth:])
				}
			})
			check(t, path.Base(w.Path), data, w)
		})
	}
}

func jvm(t *testing.T, f Format, payloads [][]byte) []string {
	t.Helper()
	var in strings.Builder
	for _, p := range payloads {
		fmt.Fprintf(&in, "%s %s\n", f, base64.StdEncoding.EncodeToString(p))
	}
	out := strings.Split(strings.TrimSuffix(java(t, in.String(), "read"), "\n"), "\n")
	if len(out) != len(payloads) {
		t.Fatalf("%d answers to %d payloads", len(out), len(payloads))
	}
	return out
}
