package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
)

// pingTimeout is how long a Docker engine may take to answer.
const pingTimeout = 10 * time.Second

const (
	dockerRemedy = "install Docker (Debian's docker.io) and start dockerd, or set DOCKER_HOST to a running engine"
	hostRemedy   = "set TESTCONTAINERS_HOST_OVERRIDE to where its published ports are reached"
	imageRemedy  = "let the engine pull it, or set " + ImageVariable + " to an image that is there; harness/image/make makes one from Debian packages"
)

// An engine is a Docker that answers and has the image.
type engine struct {
	host  string // the host of the published ports
	image string
}

// findDocker finds the engine, and pulls the image if it is missing. The error
// is an *UnavailableError if there is no engine or no image.
func findDocker(ctx context.Context) (_ engine, err error) {
	provider, err := newProvider()
	if err != nil {
		return engine{}, missing(ctx, "no Docker engine answers", dockerRemedy, err)
	}
	defer provider.Close()
	if err := ping(ctx, provider.Client()); err != nil {
		return engine{}, err
	}
	e := engine{image: imageName()}
	if e.host, err = provider.DaemonHost(ctx); err != nil {
		return engine{}, missing(ctx, "the Docker engine's address is not known", hostRemedy, err)
	}
	if err := ensureImage(ctx, provider.Client(), e.image); err != nil {
		return engine{}, missing(ctx, "no image "+e.image, imageRemedy, err)
	}
	return e, nil
}

// missing returns an *UnavailableError. If the context ended, it returns the
// context's error, because a cancelled search does not show that anything is
// missing.
func missing(ctx context.Context, what, remedy string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("harness: look for Docker: %w", ctx.Err())
	}
	return &UnavailableError{Backend: Docker, Missing: fmt.Sprintf("%s (%v)", what, err), Remedy: remedy, Err: err}
}

func ping(ctx context.Context, c client.APIClient) error {
	limited, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if _, err := c.Ping(limited, client.PingOptions{}); err != nil {
		return missing(ctx, "no Docker engine answers", dockerRemedy, err)
	}
	return nil
}

// silence keeps the library from describing the engine on standard error, among
// a command's own messages. The library has only a global setting for it.
var silence = sync.OnceFunc(func() { log.SetDefault(log.NewNoopLogger()) })

// newProvider returns an error on a machine without Docker, where the library
// panics.
func newProvider() (p *testcontainers.DockerProvider, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	silence()
	return testcontainers.NewDockerProvider(testcontainers.WithLogger(log.NewNoopLogger()))
}

// ensureImage pulls the image unless it exists. The library would do that, too,
// but without a registry it tries for a quarter of an hour.
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

func killContainer(ctx context.Context, id string) error {
	c, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return dockerError("kill container "+id, err)
	}
	defer c.Close()
	_, err = c.ContainerKill(ctx, id, client.ContainerKillOptions{Signal: "KILL"})
	if err != nil && !errdefs.IsConflict(err) { // a conflict: it isn't running
		return dockerError("kill container "+id, err)
	}
	return nil
}

func copyLogs(ctx context.Context, c *testcontainers.DockerContainer, w io.Writer) error {
	logs, err := c.Logs(ctx)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, logs)
	return errors.Join(err, logs.Close())
}

// dockerError says what was tried. It matches errPortTaken if a published port
// was in use.
func dockerError(doing string, err error) error {
	if saysPortTaken(err.Error()) {
		return fmt.Errorf("harness: docker: %s: %w: %w", doing, errPortTaken, err)
	}
	return fmt.Errorf("harness: docker: %s: %w", doing, err)
}
