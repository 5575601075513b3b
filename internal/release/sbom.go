package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// writeSBOM writes which modules are in the binaries. It reads that from the
// binaries' build info. The list has no date and no serial number, because with
// them no two lists would be the same.
func writeSBOM(path, version string, binaries []string) error {
	modules := map[string]*debug.Module{}
	goVersion := ""
	for _, file := range binaries {
		info, err := buildinfo.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read the build info of %s: %w", file, err)
		}
		goVersion = info.GoVersion
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			modules[purl(m.Path, m.Version)] = m
		}
	}
	own := &cdx.Component{BOMRef: purl("mrtq", version), Type: cdx.ComponentTypeApplication, Name: "mrtq", Version: version, PackageURL: purl("mrtq", version)}
	components := []cdx.Component{{BOMRef: purl("std", goVersion), Type: cdx.ComponentTypeLibrary, Name: "std", Version: goVersion, PackageURL: purl("std", goVersion)}}
	for _, m := range modules {
		components = append(components, cdx.Component{BOMRef: purl(m.Path, m.Version), Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: purl(m.Path, m.Version)})
	}
	slices.SortFunc(components, func(a, b cdx.Component) int { return cmp.Compare(a.BOMRef, b.BOMRef) })
	refs := append(slices.Sorted(maps.Keys(modules)), purl("std", goVersion))
	slices.Sort(refs)
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: own}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: own.BOMRef, Dependencies: &refs}}
	var b bytes.Buffer
	if err := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// purl is a Go module's package URL.
func purl(module, version string) string { return "pkg:golang/" + module + "@" + version }
