package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// release is the version of a release, set when one is built
// (-ldflags '-X main.release=v1.2.3').
var release string

// version says of which release the executable is, or from which revision it was built.
func version() string {
	v := release
	if info, ok := debug.ReadBuildInfo(); ok && v == "" {
		v = info.Main.Version
	}
	return fmt.Sprintf("mrtq %s, %s, %s/%s", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
