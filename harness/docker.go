package harness

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"mrtq/harness/internal/containers"
)

const (
	// ImageVariable is the environment variable that names the image of the
	// docker backend. Any image works that understands the official image's
	// variables. Without it the image is zookeeper:3.9.
	ImageVariable = "MRTQ_ZK_IMAGE"
	defaultImage  = "zookeeper:3.9"

	// ContainerLabel is the label of every container that the harness creates. Its
	// value has the id of the process. With it you find what a killed process has
	// left behind:
	//
	//	docker ps -a --filter label=mrtq.harness
	ContainerLabel = "mrtq.harness"
)

const (
	containerClient = 2181   // the client port inside a container
	containerSecure = 2281   // the TLS port inside a container
	containerTLS    = "/tls" // where the certificates are put in a container

	// dockerTimeout is the limit for killing and for removing a container. Both
	// continue even if the caller's context is cancelled.
	dockerTimeout = 30 * time.Second
)

// launchDocker starts one server in a container.
func launchDocker(ctx context.Context, s *Server) (*cluster, error) {
	if containers.Run == nil {
		return nil, &UnavailableError{Backend: Docker, Missing: "this program has no Docker client in it", Remedy: `import _ "mrtq/harness/docker"`}
	}
	ports, err := takePorts(2)
	if err != nil {
		return nil, err
	}
	n := &dockerNode{}
	c := &cluster{nodes: []node{n}, remove: func(ctx context.Context) error {
		defer releasePorts(ports)
		return n.remove(ctx)
	}}
	if n.c, err = containers.Run(ctx, s.container(ports)); err != nil {
		return c, portTaken(err)
	}
	at := func(port int) []string { return []string{net.JoinHostPort(n.c.PublishedAt(), strconv.Itoa(port))} }
	c.hosts = at(ports[0])
	if s.opt.TLS {
		c.secureHosts = at(ports[1])
	}
	return c, nil
}

// container describes the server's container, whose settings are the official image's
// variables. ZOO_CFG_EXTRA comes last in the server's zoo.cfg, so it overrides the
// image's settings.
func (s *Server) container(ports []int) containers.Spec {
	host, _ := os.Hostname()
	spec := containers.Spec{
		Image:  imageName(),
		Labels: map[string]string{ContainerLabel: fmt.Sprintf("process %d on %s", os.Getpid(), host)},
		Ports:  map[int]int{containerClient: ports[0]},
	}
	p := s.opt.properties()
	if s.opt.TLS {
		withTLS(p, containerSecure, s.certs, containerTLS)
		spec.Ports[containerSecure] = ports[1]
		spec.Files = map[string]string{}
		for _, name := range []string{s.certs.clientName, s.certs.serverName} {
			spec.Files[containerTLS+"/"+name] = s.certs.folder + "/" + name
		}
	}
	spec.Env = map[string]string{
		"ZOO_SERVERS":   fmt.Sprintf("server.1=localhost:2888:3888;%d", containerClient),
		"JVMFLAGS":      strings.Join(s.javaFlags(), " "),
		"ZOO_CFG_EXTRA": strings.ReplaceAll(strings.TrimSpace(cfgText(p)), "\n", " "),
	}
	return spec
}

// dockerNode is the server in a container.
type dockerNode struct{ c containers.Container }

func (n *dockerNode) start(ctx context.Context) error {
	return dockerError("restart a container", n.c.Start(ctx))
}

func (n *dockerNode) stop(ctx context.Context) error {
	if ctx.Err() != nil {
		return n.kill()
	}
	patience := stopTimeout
	return dockerError("stop a container", n.c.Stop(ctx, &patience))
}

func (n *dockerNode) kill() error {
	ctx, cancel := context.WithTimeout(context.Background(), dockerTimeout)
	defer cancel()
	return dockerError("kill container "+n.c.GetContainerID(), n.c.Kill(ctx))
}

func (n *dockerNode) ended(ctx context.Context) error {
	state := n.c.Ended(ctx)
	if state == "" {
		return nil
	}
	return &ExitError{Backend: Docker, State: state, LastWords: n.lastWords(ctx)}
}

// portTaken finds nothing, because Docker itself refuses a port that is taken.
func (n *dockerNode) portTaken(context.Context) error { return nil }

func (n *dockerNode) lastWords(ctx context.Context) string {
	logs, err := n.c.Logs(ctx)
	if err != nil {
		return "its log cannot be read: " + err.Error()
	}
	defer logs.Close()
	words := &tail{}
	_, _ = io.Copy(words, logs) // what could be read
	return words.String()
}

// remove ends the container and removes it with its data.
func (n *dockerNode) remove(ctx context.Context) error {
	if n.c == nil {
		return nil
	}
	patience := stopTimeout
	if ctx.Err() != nil {
		patience = 0
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dockerTimeout)
	defer cancel()
	return dockerError("remove container "+n.c.GetContainerID(), n.c.Remove(ctx, patience))
}

func imageName() string { return cmp.Or(os.Getenv(ImageVariable), defaultImage) }

// dockerError says what was tried, if err is not nil.
func dockerError(doing string, err error) error {
	if err == nil {
		return nil
	}
	return portTaken(fmt.Errorf("harness: docker: %s: %w", doing, err))
}

// portTaken makes err match errPortTaken if a published port was in use.
func portTaken(err error) error {
	if saysPortTaken(err.Error()) {
		return fmt.Errorf("%w: %w", err, errPortTaken)
	}
	return err
}
