package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
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

	// ContainerLabel is the label of every container and network that the
	// harness creates. Its value has the id of the process. With it you find what
	// a killed process has left behind:
	//
	//	docker ps -a --filter label=mrtq.harness
	ContainerLabel = "mrtq.harness"
)

// Ports inside a container.
const (
	containerClient = 2181
	containerSecure = 2281
)

// containerTLS is where the certificates are put in a container.
const containerTLS = "/tls"

// dockerRemoveTimeout is the limit for removing one container or network. The
// removal continues even if the caller's context is cancelled.
const dockerRemoveTimeout = 30 * time.Second

// launchDocker starts Options.Nodes containers, with a network of their own if
// there are several.
func launchDocker(ctx context.Context, s *Server) (_ cluster, err error) {
	if containers.Find == nil {
		return nil, &UnavailableError{Backend: Docker, Missing: "this program has no Docker client in it", Remedy: `import _ "mrtq/harness/docker"`}
	}
	engine, err := containers.Find(ctx, imageName(), labels())
	if err != nil {
		return nil, err
	}
	c := &dockerCluster{host: engine.Host()}
	if c.ports, err = takePorts(2 * s.opt.Nodes); err != nil {
		return nil, err
	}
	if s.opt.Nodes > 1 {
		if c.network, err = engine.Network(ctx); err != nil {
			return c, dockerError("create a network", err)
		}
	}
	for i := range s.opt.Nodes {
		n := &dockerNode{s: s, cluster: c, index: i, client: c.ports[2*i], secure: c.ports[2*i+1]}
		c.servers = append(c.servers, n)
		if err := n.create(ctx, engine); err != nil {
			return c, err
		}
	}
	return c, nil
}

type dockerCluster struct {
	host    string // the host of the published ports
	ports   []int
	network containers.Network // nil for a standalone server
	servers []*dockerNode
}

func (c *dockerCluster) chroot() string { return "" }

func (c *dockerCluster) hosts() (all []string) {
	for _, n := range c.servers {
		all = append(all, net.JoinHostPort(c.host, strconv.Itoa(n.client)))
	}
	return all
}

func (c *dockerCluster) secureHosts() (all []string) {
	for _, n := range c.servers {
		if n.s.opt.TLS {
			all = append(all, net.JoinHostPort(c.host, strconv.Itoa(n.secure)))
		}
	}
	return all
}

func (c *dockerCluster) nodes() (all []node) {
	for _, n := range c.servers {
		all = append(all, n)
	}
	return all
}

func (c *dockerCluster) remove(ctx context.Context) error {
	var err error
	for _, n := range c.servers {
		err = errors.Join(err, n.remove(ctx))
	}
	if c.network != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dockerRemoveTimeout)
		defer cancel()
		if e := c.network.Remove(ctx); e != nil {
			err = errors.Join(err, dockerError("remove network "+c.network.Name(), e))
		}
	}
	releasePorts(c.ports)
	return err
}

// environment returns the server's settings as the official image's variables.
// ZOO_CFG_EXTRA comes last in the server's zoo.cfg, so it overrides the image's settings.
func (n *dockerNode) environment() map[string]string {
	p := n.s.opt.properties()
	if n.s.opt.TLS {
		withTLS(p, containerSecure, n.s.certs, containerTLS)
	}
	return map[string]string{
		"ZOO_MY_ID":     fmt.Sprint(n.index + 1),
		"ZOO_SERVERS":   n.zooServers(),
		"JVMFLAGS":      strings.Join(n.s.javaFlags(), " "),
		"ZOO_CFG_EXTRA": strings.ReplaceAll(strings.TrimSpace(cfgText(p)), "\n", " "),
	}
}

// peer returns the address of server i within the containers' network.
func (c *dockerCluster) peer(i int) netip.Addr {
	a := c.network.Subnet().Masked().Addr().Next() // the first address is Docker's own, the gateway
	for range i + 1 {
		a = a.Next()
	}
	return a
}

func (n *dockerNode) zooServers() string {
	if n.s.opt.Nodes == 1 {
		return fmt.Sprintf("server.1=localhost:2888:3888;%d", containerClient)
	}
	var all []string
	for i := range n.s.opt.Nodes {
		all = append(all, fmt.Sprintf("server.%d=%s:2888:3888;%d", i+1, n.cluster.peer(i), containerClient))
	}
	return strings.Join(all, " ")
}

func labels() map[string]string {
	host, _ := os.Hostname()
	return map[string]string{ContainerLabel: fmt.Sprintf("process %d on %s", os.Getpid(), host)}
}

// dockerNode is one server in a container.
type dockerNode struct {
	s              *Server
	cluster        *dockerCluster
	index          int
	client, secure int // published ports
	c              containers.Container
}

// create makes and starts the container.
func (n *dockerNode) create(ctx context.Context, engine containers.Engine) (err error) {
	spec := containers.Spec{Env: n.environment(), Ports: []containers.Port{n.publish(containerClient, n.client)}}
	if n.s.opt.TLS {
		spec.Ports = append(spec.Ports, n.publish(containerSecure, n.secure))
		for _, name := range []string{n.s.certs.caName, n.s.certs.serverName} {
			spec.Files = append(spec.Files, containers.File{Host: n.s.certs.folder + "/" + name, Inside: containerTLS + "/" + name})
		}
	}
	if n.cluster.network != nil {
		spec.Network, spec.Address = n.cluster.network, n.cluster.peer(n.index)
	}
	if n.c, err = engine.Run(ctx, spec); err != nil {
		return dockerError(fmt.Sprintf("start a container of %s", imageName()), err)
	}
	return nil
}

// publish says where clients reach a port of the container. If the engine is
// local, only this machine can reach it.
func (n *dockerNode) publish(inside, host int) containers.Port {
	p := containers.Port{Inside: inside, Host: host}
	if isLoopback(n.cluster.host) {
		p.IP = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return p
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

func (n *dockerNode) start(ctx context.Context) error {
	if err := n.c.Start(ctx); err != nil {
		return dockerError("restart a container", err)
	}
	return nil
}

func (n *dockerNode) stop(ctx context.Context) error {
	if ctx.Err() != nil {
		return n.kill()
	}
	if err := n.c.Stop(ctx, stopTimeout); err != nil {
		return dockerError("stop a container", err)
	}
	return nil
}

func (n *dockerNode) kill() error {
	ctx, cancel := context.WithTimeout(context.Background(), dockerRemoveTimeout)
	defer cancel()
	if err := n.c.Kill(ctx); err != nil {
		return dockerError("kill container "+n.c.ID(), err)
	}
	return nil
}

func (n *dockerNode) ended(ctx context.Context) error {
	running, state, err := n.c.State(ctx)
	if err != nil || running {
		return nil // if the engine doesn't answer, the container counts as running
	}
	return &ExitError{
		Backend: Docker, Node: n.index,
		State:     state,
		LastWords: n.lastWords(ctx),
	}
}

// portTaken finds nothing, because Docker itself refuses a port that is taken.
func (n *dockerNode) portTaken(context.Context) error { return nil }

func (n *dockerNode) lastWords(ctx context.Context) string {
	words := &tail{}
	if err := n.c.Logs(ctx, words); err != nil {
		return "its log cannot be read: " + err.Error()
	}
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dockerRemoveTimeout)
	defer cancel()
	if err := n.c.Remove(ctx, patience); err != nil {
		return dockerError("remove container "+n.c.ID(), err)
	}
	return nil
}

func imageName() string { return cmp.Or(os.Getenv(ImageVariable), defaultImage) }

// dockerError says what was tried. It matches errPortTaken if a published port
// was in use.
func dockerError(doing string, err error) error {
	if saysPortTaken(err.Error()) {
		return fmt.Errorf("harness: docker: %s: %w: %w", doing, errPortTaken, err)
	}
	return fmt.Errorf("harness: docker: %s: %w", doing, err)
}
