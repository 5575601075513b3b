// Package containers says what the harness needs from a container engine, so that
// the harness does not import the engine's client. Package harness/docker imports
// the client, and sets [Run].
package containers

import (
	"context"
	"io"
	"time"
)

// Run creates and starts a container, after it has pulled the image if it was
// missing. After an error, remove the container if it is not nil. Run is nil in a
// program that does not import mrtq/harness/docker.
var Run func(ctx context.Context, spec Spec) (Container, error)

// Spec describes a container to run.
type Spec struct {
	Image       string
	Env, Labels map[string]string
	Ports       map[int]int       // ports of the container, and where the engine's host has them
	Files       map[string]string // paths in the container, and what files of this machine are copied there
}

// Container is a container that Run created.
type Container interface {
	GetContainerID() string
	// PublishedAt returns the host at which its ports are.
	PublishedAt() string
	Start(ctx context.Context) error
	// Stop asks the container to end, and kills it after patience.
	Stop(ctx context.Context, patience *time.Duration) error
	// Kill does nothing to a container that has ended.
	Kill(ctx context.Context) error
	// Ended returns how the engine says that the container ended, or "".
	Ended(ctx context.Context) string
	// Logs returns what the container has printed.
	Logs(ctx context.Context) (io.ReadCloser, error)
	// Remove stops the container as Stop does, and removes it with its data.
	Remove(ctx context.Context, patience time.Duration) error
}
