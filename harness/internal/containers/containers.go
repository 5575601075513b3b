// Package containers is what the harness needs of a container engine. It keeps
// the engine's client out of the harness: package harness/docker has it, and
// registers it here.
package containers

import (
	"context"
	"io"
	"net/netip"
	"time"
)

// Find looks for an engine that has the image, and pulls the image if it is
// missing. It is nil in a program that has no engine's client.
var Find func(ctx context.Context, image string, labels map[string]string) (Engine, error)

// Engine makes containers of one image, all with the same labels.
type Engine interface {
	// Host is where published ports are reached.
	Host() string
	// Network makes a network in which the addresses of containers can be
	// chosen.
	Network(ctx context.Context) (Network, error)
	// Run makes and starts a container. On an error the container, if not nil,
	// is to be removed.
	Run(ctx context.Context, spec Spec) (Container, error)
}

// Network is a network of an engine.
type Network interface {
	Name() string
	Subnet() netip.Prefix
	Remove(ctx context.Context) error
}

// Spec says what container to run.
type Spec struct {
	Env   map[string]string
	Ports []Port
	Files []File
	// Network is one that Engine.Network made, or nil. Address is the
	// container's in it.
	Network Network
	Address netip.Addr
}

// Port is a port of a container and where it is published. The zero IP is all
// interfaces of the engine's host.
type Port struct {
	Inside int
	IP     netip.Addr
	Host   int
}

// File is copied into a container, readable for everybody, because the id of the
// container's user is unknown.
type File struct{ Host, Inside string }

// Container is a container that was made.
type Container interface {
	ID() string
	Start(ctx context.Context) error
	Stop(ctx context.Context, patience time.Duration) error
	// Kill does nothing to a container that has ended.
	Kill(ctx context.Context) error
	// State is how it ended, in the engine's words.
	State(ctx context.Context) (running bool, ended string, err error)
	Logs(ctx context.Context, to io.Writer) error
	// Remove ends it and removes it with its data.
	Remove(ctx context.Context, patience time.Duration) error
}
