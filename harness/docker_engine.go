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

// pingTimeout is how long a Docker engine may take to say that it is there.
const pingTimeout = 10 * time.Second

const (
	dockerRemedy = "install Docker (Debian's docker.io) and start dockerd, or set DOCKER_HOST to a running engine"
	hostRemedy   = "set TESTCONTAINERS_HOST_OVERRIDE to where its published ports are reached"
	imageRemedy  = "let the engine pull it, or set " + ImageVariable + " to an image that is there; harness/image/make makes one from Debian packages"
)

// An engine is a Docker that answers and has the image.
type engine struct {
	host  string // where published ports are reached
	image string
}

// findDocker asks for the engine and gets the image if it isn't there. Its
// error is an *UnavailableError when either is out of reach.
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

// missing returns an *UnavailableError, or the context's error when that was
// the reason: a cancelled search has not shown that anything is missing.
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

// silence keeps the library from describing the engine on standard error, where
// a command's own words are. It has no setting for it but the global one.
var silence = sync.OnceFunc(func() { log.SetDefault(log.NewNoopLogger()) })

// newProvider turns the library's panic about a machine without Docker into
// the error that it is.
func newProvider() (p *testcontainers.DockerProvider, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	silence()
	return testcontainers.NewDockerProvider(testcontainers.WithLogger(log.NewNoopLogger()))
}

// ensureImage pulls the image unless it is there. The library would do that, too,
// but goes on trying for a quarter of an hour where there is no registry.
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

// dockerError says what was tried; it matches errPortTaken when a published
// port turned out to be in use.
func dockerError(doing string, err error) error {
	if saysPortTaken(err.Error()) {
		return fmt.Errorf("harness: docker: %s: %w: %w", doing, errPortTaken, err)
	}
	return fmt.Errorf("harness: docker: %s: %w", doing, err)
}
