// Package containers is what the harness needs from a container engine. It
// keeps the engine's client out of the harness. Package harness/docker has the
// client, and registers itself here.
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

// Engine creates containers of one image, all with the same labels.
type Engine interface {
	// Host is the host of the published ports.
	Host() string
	// Network creates a network in which the caller chooses the containers'
	// addresses.
	Network(ctx context.Context) (Network, error)
	// Run creates and starts a container. After an error, remove the container
	// if it is not nil.
	Run(ctx context.Context, spec Spec) (Container, error)
}

// Network is a network of an engine.
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

// Port is a port of a container and the address that it is published at. The
// zero IP means all interfaces of the engine's host.
type Port struct {
	Inside int
	IP     netip.Addr
	Host   int
}

// File is copied into a container. Everyone can read it, because the id of the
// container's user is unknown.
type File struct{ Host, Inside string }

// Container is a container that Run created.
type Container interface {
	ID() string
	Start(ctx context.Context) error
	Stop(ctx context.Context, patience time.Duration) error
	// Kill does nothing to a container that has ended.
	Kill(ctx context.Context) error
	// State says how it ended, in the engine's words.
	State(ctx context.Context) (running bool, ended string, err error)
	Logs(ctx context.Context, to io.Writer) error
	// Remove stops the container and removes it with its data.
	Remove(ctx context.Context, patience time.Duration) error
}
