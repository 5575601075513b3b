// Command mrtq migrates a production ZooKeeper queue from its legacy layout to the new
// one: it decodes, plans, migrates, verifies, releases and rolls back.
//
// A command is a file: its flags, one call of a library, and what it prints. What commands
// share is in
//
//	root.go    how a command begins and ends
//	errors.go  exit codes and words for errors
//	place.go   SOURCE and TARGET
//	legacy.go  where the legacy queues are
//
// and in packages below internal: connect reaches a server, screen prints, view shows plans and
// verifications, settings sets flags, help explains the commands, advice says what to do next, files looks after the
// operator's files, acceptcmd runs mrtq accept, planpage makes the page of a plan.
package main

import (
	"os"

	_ "mrtq/harness/docker" // the docker backend
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }
