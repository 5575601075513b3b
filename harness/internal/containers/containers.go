// Package containers has the interfaces that the harness needs from a container
// engine. So the harness does not import the engine's client. Package
// harness/docker imports the client, and sets [Find].
package containers

import (
	"context"
	"io"
	"net/netip"
	"time"
)

// Find returns an engine that has the image, after it has pulled the image if it
// was missing. All containers and networks of the engine get the labels. Find is
// nil in a program that does not import mrtq/harness/docker.
var Find func(ctx context.Context, image string, labels map[string]string) (Engine, error)

// Engine creates containers of one image, all with the same labels.
type Engine interface {
	// Host returns the host at which the published ports are.
	Host() string
	// Network creates a network in which the caller chooses the containers'
	// addresses.
	Network(ctx context.Context) (Network, error)
	// Run creates and starts a container. After an error, remove the container
	// if it is not nil.
	Run(ctx context.Context, spec Spec) (Container, error)
}

// Network is a network that Engine.Network has created.
type Network interface {
	Name() string
	Subnet() netip.Prefix
	Remove(ctx context.Context) error
}

// Spec describes a container to run.
type Spec struct {
	Env   map[string]string
	Ports []Port
	Files []File
	// Network was created by Engine.Network, or is nil. Address is the
	// container's address in it.
	Network Network
	Address netip.Addr
}

// Port says at which address a port of a container is published: port Inside of the
// container is port Host of the engine's host. The zero IP means all of that
// host's interfaces.
type Port struct {
	Inside int
	IP     netip.Addr
	Host   int
}

// File is a file of this machine, at the path Host, to copy into a container at the
// path Inside. All users can read it, because we don't know which user the
// container runs as.
type File struct{ Host, Inside string }

// Container is a container that Run created.
type Container interface {
	ID() string
	Start(ctx context.Context) error
	// Stop asks the container to end, and kills it after patience.
	Stop(ctx context.Context, patience time.Duration) error
	// Kill does nothing to a container that has ended.
	Kill(ctx context.Context) error
	// State returns whether the container runs, and how the engine says that it
	// ended.
	State(ctx context.Context) (running bool, ended string, err error)
	// Logs writes what the container has printed.
	Logs(ctx context.Context, to io.Writer) error
	// Remove stops the container as Stop does, and removes it with its data.
	Remove(ctx context.Context, patience time.Duration) error
}
