package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// The same source gives the same files. They have the version and no path of
// this machine, and they match the checksums and the SBOM.
func TestRelease(t *testing.T) {
	here := []platform{{runtime.GOOS, runtime.GOARCH}}
	const pkg = "mrtq/internal/release" // a small package that needs one module
	one, two := t.TempDir(), t.TempDir()
	for _, out := range []string{one, two} {
		if err := release(pkg, "v1.2.3", out, here); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{here[0].binary(), "mrtq.cdx.json", "SHA256SUMS"}
	for _, name := range names {
		if !bytes.Equal(read(t, one, name), read(t, two, name)) {
			t.Errorf("%s differs between two builds", name)
		}
	}
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(read(t, one, names[0]), []byte(folder)) {
		t.Errorf("the binary says that it was built in %s", folder)
	}

	check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = one
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("sha256sum: %v\n%s", err, out)
	}

	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(read(t, one, "mrtq.cdx.json")), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	if c := bom.Metadata.Component; c.Name != "mrtq" || c.Version != "v1.2.3" {
		t.Errorf("the SBOM is of %s %s", c.Name, c.Version)
	}
	found := false
	for _, c := range *bom.Components {
		found = found || c.Name == "github.com/CycloneDX/cyclonedx-go" && strings.HasPrefix(c.PackageURL, "pkg:golang/github.com/CycloneDX/cyclonedx-go@v")
	}
	if !found || len(*bom.Components) != 2 { // Go's own library and that module
		t.Errorf("the SBOM has %v", *bom.Components)
	}
}

func TestReleaseOfNothing(t *testing.T) {
	err := release("mrtq/internal/nowhere", "v1", t.TempDir(), platforms[:1])
	if err == nil || !strings.HasPrefix(err.Error(), "build mrtq/internal/nowhere for linux/amd64: exit status 1\n") {
		t.Errorf("error: %v", err)
	}
}

func read(t *testing.T, folder, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
