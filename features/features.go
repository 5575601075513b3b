// Package features holds the scenarios, in Gherkin, that say what mrtq and the
// new queue do, in the words of those who run them.
package features

import "embed"

// Files are all *.feature files.
//
//go:embed *.feature
var Files embed.FS
