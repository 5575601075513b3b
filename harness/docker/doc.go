// Package docker adds the docker backend to the harness. Import it in a program or
// a test that starts servers in containers:
//
//	import _ "mrtq/harness/docker"
//
// Without the import, [harness.Docker] is not available, and the program does
// not contain Docker's client.
package docker
