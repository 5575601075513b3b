// Package docker gives the harness its docker backend. A program or a test that
// starts servers in containers imports it for that alone:
//
//	import _ "mrtq/harness/docker"
//
// Without the import, [harness.Docker] is not available, and the program does
// not have Docker's client in it.
package docker
