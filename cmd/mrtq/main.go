// Command mrtq migrates a production ZooKeeper queue from its legacy layout to the new
// one: it decodes, plans, migrates, verifies and rolls back.
package main

import (
	"os"

	_ "mrtq/harness/docker" // the docker backend
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }
