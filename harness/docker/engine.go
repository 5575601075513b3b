package docker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"

	"mrtq/harness"
	"mrtq/harness/internal/containers"
)

// pingTimeout is how long a Docker engine may take to answer.
const pingTimeout = 10 * time.Second

const (
	engineRemedy = "install Docker (Debian's docker.io) and start dockerd, or set DOCKER_HOST to a running engine"
	hostRemedy   = "set TESTCONTAINERS_HOST_OVERRIDE to the host at which its published ports are"
	imageRemedy  = "let the engine pull it, or set " + harness.ImageVariable + " to an image that the engine has; harness/image/make makes one from Debian packages"
)

func init() { containers.Find = find }

// engine is a Docker engine that answers and has the image.
type engine struct {
	host, image string
	labels      map[string]string
}

// Host returns the host at which the published ports are.
func (e *engine) Host() string { return e.host }

// find looks for the engine, and pulls the image if it is missing. The error is a
// *harness.UnavailableError if there is no engine or no image.
func find(ctx context.Context, image string, labels map[string]string) (containers.Engine, error) {
	provider, err := newProvider()
	if err != nil {
		return nil, missing(ctx, "no Docker engine answers", engineRemedy, err)
	}
	defer provider.Close()
	if err := ping(ctx, provider.Client()); err != nil {
		return nil, err
	}
	e := &engine{image: image, labels: labels}
	if e.host, err = provider.DaemonHost(ctx); err != nil {
		return nil, missing(ctx, "the Docker engine's address is not known", hostRemedy, err)
	}
	if err := ensureImage(ctx, provider.Client(), image); err != nil {
		return nil, missing(ctx, "no image "+image, imageRemedy, err)
	}
	return e, nil
}

// missing returns a *harness.UnavailableError. If the context ended, it returns the
// context's error, because a cancelled search does not show that anything is
// missing.
func missing(ctx context.Context, what, remedy string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("harness: look for Docker: %w", ctx.Err())
	}
	return &harness.UnavailableError{Backend: harness.Docker, Missing: fmt.Sprintf("%s (%v)", what, err), Remedy: remedy, Err: err}
}

func ping(ctx context.Context, c client.APIClient) error {
	limited, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if _, err := c.Ping(limited, client.PingOptions{}); err != nil {
		return missing(ctx, "no Docker engine answers", engineRemedy, err)
	}
	return nil
}

// silence stops the library from printing a description of the engine among a
// command's own messages. The library has only a global setting for that.
var silence = sync.OnceFunc(func() { log.SetDefault(log.NewNoopLogger()) })

// newProvider returns an error on a machine without Docker, although the library
// panics there.
func newProvider() (p *testcontainers.DockerProvider, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	silence()
	return testcontainers.NewDockerProvider(testcontainers.WithLogger(log.NewNoopLogger()))
}

// ensureImage pulls the image unless the engine has it. The library would do that,
// too, but without a registry it tries for a quarter of an hour.
func ensureImage(ctx context.Context, c client.APIClient, image string) error {
	if _, err := c.ImageInspect(ctx, image); err == nil || !errdefs.IsNotFound(err) {
		return err
	}
	pull, err := c.ImagePull(ctx, image, client.ImagePullOptions{})
	if err != nil {
		return err
	}
	return errors.Join(pull.Wait(ctx), pull.Close())
}
