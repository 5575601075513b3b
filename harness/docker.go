package harness

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"mrtq/harness/internal/node"
)

const (
	// ImageVariable is the environment variable that names the image of the
	// docker backend. Any image works that understands the official image's
	// variables. Without it the image is zookeeper:3.8.4.
	ImageVariable = "MRTQ_ZK_IMAGE"
	defaultImage  = "zookeeper:3.8.4"

	// ContainerLabel is the label of every container that the harness creates. Its
	// value has the id of the process. With it you find what a killed process has
	// left behind:
	//
	//	docker ps -a --filter label=mrtq.harness
	ContainerLabel = "mrtq.harness"
)

const (
	containerClient = 2181                  // the client port inside a container
	containerSecure = 2281                  // the TLS port inside a container
	containerTLS    = "/" + certificateName // where the certificate is put in a container
)

func (s *Server) launchDocker(ctx context.Context) error {
	if node.Run == nil {
		return &UnavailableError{Docker, "this program has no Docker client in it", `import _ "mrtq/harness/docker"`}
	}
	ports, err := takePorts(2)
	if err != nil {
		return err
	}
	n, host, remove, err := node.Run(ctx, s.container(ports))
	s.nodes, s.remove = []node.Node{n}, remove
	if err != nil {
		return err
	}
	at := func(port int) []string { return []string{net.JoinHostPort(host, strconv.Itoa(port))} }
	s.hosts = at(ports[0])
	if s.opt.TLS {
		s.secureHosts = at(ports[1])
	}
	return nil
}

// container describes the server's container, whose settings are the official image's
// variables. ZOO_CFG_EXTRA comes last in the server's zoo.cfg, so it overrides the
// image's settings.
func (s *Server) container(ports []int) node.Spec {
	host, _ := os.Hostname()
	spec := node.Spec{
		Image:  cmp.Or(os.Getenv(ImageVariable), defaultImage),
		Labels: map[string]string{ContainerLabel: fmt.Sprintf("process %d on %s", os.Getpid(), host)},
		Ports:  map[int]int{containerClient: ports[0]},
	}
	p := s.opt.properties()
	if s.opt.TLS {
		withTLS(p, containerSecure, containerTLS)
		spec.Ports[containerSecure] = ports[1]
		spec.Files = map[string]string{containerTLS: s.certificate}
	}
	spec.Env = map[string]string{
		"ZOO_SERVERS":   fmt.Sprintf("server.1=localhost:2888:3888;%d", containerClient),
		"JVMFLAGS":      strings.Join(s.javaFlags(), " "),
		"ZOO_CFG_EXTRA": strings.ReplaceAll(strings.TrimSpace(cfgText(p)), "\n", " "),
	}
	return spec
}
