// Command mrtq migrates a production ZooKeeper queue from its legacy layout to the new
// one: it decodes, plans, migrates, verifies and rolls back.
//
// A command is a file: its flags, one call of a library, and what it prints. What commands
// share is in
//
//	root.go        how a command begins and ends
//	errors.go      exit codes and words for errors
//	connection.go  how to reach a server
//	place.go       SOURCE and TARGET
//	legacy.go      where the legacy queues are
//
// and in packages below internal: screen prints, settings sets flags, advice says what to do
// next, files looks after the operator's files, watching draws the screen of watch.
package main

import (
	"os"

	_ "mrtq/harness/docker" // the docker backend
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }
