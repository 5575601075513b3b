// Package node says what the harness needs from one server of any backend. It also keeps
// the client of the container engine out of the harness: package harness/docker imports
// that, and sets [Run].
package node

import "context"

// Node is one server. Its methods are not called concurrently.
type Node interface {
	// Start runs the server on the data and ports it had before. It does not
	// wait for readiness.
	Start(ctx context.Context) error
	// Stop shuts down the server in order, or kills it if ctx is done. Kill ends it at
	// once. Both do nothing if the server has ended.
	Stop(ctx context.Context) error
	Kill() error
	// Ended returns "" while the server runs, and afterwards how it ended.
	Ended(ctx context.Context) string
	// LastWords returns the end of the server's log.
	LastWords(ctx context.Context) string
}

// Run creates and starts a container, after it has pulled the image if it was missing. It returns
// the host at which the container's ports are. remove ends the container, if there is one, and removes
// it with its data, even if ctx is cancelled; call it after an error, too. Run is nil in a program
// that does not import mrtq/harness/docker.
var Run func(ctx context.Context, spec Spec) (n Node, host string, remove func(context.Context) error, err error)

// Spec describes a container to run.
type Spec struct {
	Image       string
	Env, Labels map[string]string
	Ports       map[int]int       // ports of the container, and where the engine's host has them
	Files       map[string]string // paths in the container, and what files of this machine are copied there
}
