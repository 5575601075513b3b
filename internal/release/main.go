// Command release builds the files of a release of mrtq: one stripped binary for
// each platform, their checksums, and a list of the modules in them (a CycloneDX
// SBOM). The same commit and the same Go version give the same bytes on every
// machine.
//
//	go run ./internal/release -version v0.1.0 -out dist
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// platforms are the platforms that a release is built for.
var platforms = []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

type platform struct{ os, arch string }

func (p platform) binary() string { return fmt.Sprintf("mrtq_%s_%s", p.os, p.arch) }

func main() {
	version := flag.String("version", "", "the `version` that the binaries print, such as v0.1.0; required")
	out := flag.String("out", "dist", "`folder` to write to")
	flag.Parse()
	if *version == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := release("mrtq/cmd/mrtq", *version, *out, platforms); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release creates the folder out and builds the package into it for each
// platform. It writes the checksums and the SBOM beside the binaries.
func release(pkg, version, out string, platforms []platform) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var files []string
	for _, p := range platforms {
		file := filepath.Join(out, p.binary())
		if err := build(pkg, version, file, p); err != nil {
			return err
		}
		files = append(files, file)
	}
	sbom := filepath.Join(out, "mrtq.cdx.json")
	if err := writeSBOM(sbom, version, files); err != nil {
		return err
	}
	return writeSums(filepath.Join(out, "SHA256SUMS"), append(files, sbom))
}

// build builds one binary. It has no symbols, no build id, no paths of the
// building machine, and no cgo, so it depends only on the source and on Go.
func build(pkg, version, file string, p platform) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -buildid= -X main.version="+version, "-o", file, pkg)
	cmd.Env = append(os.Environ(), "GOOS="+p.os, "GOARCH="+p.arch, "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s for %s/%s: %w\n%s", pkg, p.os, p.arch, err, text)
	}
	return nil
}

// writeSums writes the files' SHA-256 in the form that sha256sum --check reads.
func writeSums(path string, files []string) error {
	var sums strings.Builder
	for _, file := range files {
		sum, err := sha256Of(file)
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sum, filepath.Base(file))
	}
	return os.WriteFile(path, []byte(sums.String()), 0o644)
}

func sha256Of(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}
