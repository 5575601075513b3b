package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// debianJars is the folder where Debian's package libzookeeper-java and its
// dependencies have their jars. Each jar also has a name without a version.
const debianJars = "/usr/share/java"

// debianClassPath has zookeeper.jar, whose manifest names most of its
// dependencies. It also has the jars that the manifest leaves out: a logger for
// slf4j, and the parts of Netty for the secure port.
var debianClassPath = []string{
	"zookeeper.jar", "zookeeper-jute.jar", "slf4j-simple.jar",
	"netty-codec.jar", "netty-resolver.jar", "netty-transport-native-unix-common.jar",
}

// serverClass runs one server, according to its configuration.
const serverClass = "org.apache.zookeeper.server.quorum.QuorumPeerMain"

const jvmRemedy = "install Debian's zookeeper and default-jre-headless packages, or set ZOOKEEPER_HOME to an unpacked Apache ZooKeeper and JAVA_HOME to a Java runtime"

// A toolchain is what the harness needs to start a server: the java binary and a
// class path.
type toolchain struct {
	java      string
	classPath string
}

// findJVM looks for Java and the server's jars where the environment says, or in
// PATH and the folder debian. Its error is an *UnavailableError.
func findJVM(getenv func(string) string, debian string) (toolchain, error) {
	missing := func(what string, err error) (toolchain, error) {
		return toolchain{}, &UnavailableError{Backend: JVM, Missing: what, Remedy: jvmRemedy, Err: err}
	}
	java := "java"
	if home := getenv("JAVA_HOME"); home != "" {
		java = filepath.Join(home, "bin", "java")
	}
	java, err := exec.LookPath(java)
	if err != nil {
		return missing("no Java runtime found ("+err.Error()+")", err)
	}
	if home := getenv("ZOOKEEPER_HOME"); home != "" {
		jars := filepath.Join(home, "lib")
		if found, _ := filepath.Glob(filepath.Join(jars, "zookeeper-[0-9]*.jar")); len(found) == 0 {
			return missing("no zookeeper-*.jar in ZOOKEEPER_HOME's "+jars, fs.ErrNotExist)
		}
		return toolchain{java, filepath.Join(jars, "*")}, nil
	}
	var path []string
	for _, jar := range debianClassPath {
		jar = filepath.Join(debian, jar)
		if _, err := os.Stat(jar); err != nil {
			return missing("no "+jar, err)
		}
		path = append(path, jar)
	}
	return toolchain{java, strings.Join(path, string(os.PathListSeparator))}, nil
}

// launchJVM starts Options.Nodes servers as child processes on the loopback
// interface.
func launchJVM(ctx context.Context, s *Server) (*cluster, error) {
	tools, err := findJVM(os.Getenv, debianJars)
	if err != nil {
		return nil, err
	}
	// Each server has a client port, a secure port, and two for the ensemble.
	ports, err := takePorts(4 * s.opt.Nodes)
	if err != nil {
		return nil, err
	}
	c := &cluster{}
	c.remove = func(ctx context.Context) error { // the server removes the processes' folder
		var err error
		for _, n := range c.nodes {
			err = errors.Join(err, n.Stop(ctx))
		}
		return err
	}
	for i := range s.opt.Nodes {
		n, err := newJVMNode(s, tools, i, ports)
		if err != nil {
			return c, err
		}
		c.nodes = append(c.nodes, n)
		c.hosts = append(c.hosts, loopback(n.ports.client))
		if s.opt.TLS {
			c.secureHosts = append(c.secureHosts, loopback(n.ports.secure))
		}
		if err := n.Start(ctx); err != nil {
			return c, err
		}
	}
	return c, nil
}

// jvmPorts are the ports of one server. The last two are for the other servers.
type jvmPorts struct{ client, secure, quorum, election int }

func portsOf(ports []int, i int) jvmPorts {
	p := ports[4*i:]
	return jvmPorts{p[0], p[1], p[2], p[3]}
}

// newJVMNode writes the configuration of server i.
func newJVMNode(s *Server, tools toolchain, i int, ports []int) (*jvmNode, error) {
	n := &jvmNode{folder: s.dir, ports: portsOf(ports, i)}
	root := s.opt.DataDir
	if root == "" {
		root = s.dir
	}
	var err error
	if n.data, err = filepath.Abs(filepath.Join(root, fmt.Sprintf("server.%d", i+1))); err != nil {
		return nil, fmt.Errorf("harness: %w", err)
	}
	conf := filepath.Join(s.dir, fmt.Sprintf("conf.%d", i+1))
	p := s.opt.properties()
	p["dataDir"] = n.data
	p["clientPort"] = fmt.Sprint(n.ports.client)
	p["clientPortAddress"] = "127.0.0.1"
	if s.opt.TLS {
		withTLS(p, n.ports.secure, s.certs, s.certs.folder)
		p["secureClientPortAddress"] = "127.0.0.1"
	}
	if s.opt.Nodes > 1 {
		for j := range s.opt.Nodes {
			peer := portsOf(ports, j)
			p[fmt.Sprintf("server.%d", j+1)] = fmt.Sprintf("127.0.0.1:%d:%d", peer.quorum, peer.election)
		}
	}
	err = errors.Join(
		os.MkdirAll(n.data, 0o700),
		os.MkdirAll(conf, 0o700),
		os.WriteFile(filepath.Join(conf, "zoo.cfg"), []byte(cfgText(p)), 0o600),
		os.WriteFile(filepath.Join(conf, "logback.xml"), []byte(logbackConfig), 0o600),
		os.WriteFile(filepath.Join(n.data, "myid"), fmt.Appendln(nil, i+1), 0o600))
	if err != nil {
		return nil, fmt.Errorf("harness: configure server %d: %w", i, err)
	}
	n.argv = append([]string{tools.java}, s.javaFlags()...)
	n.argv = append(n.argv, "-Dorg.slf4j.simpleLogger.showDateTime=true",
		"-cp", conf+string(os.PathListSeparator)+tools.classPath,
		serverClass, filepath.Join(conf, "zoo.cfg"))
	return n, nil
}

// logbackConfig makes Apache's own distribution print its log. Debian's jars use
// slf4j-simple, which needs no file.
const logbackConfig = `<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d %-5p [%t:%C{1}@%L] - %m%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="out"/></root>
</configuration>
`

// jvmNode is one server as a child process.
type jvmNode struct {
	ports  jvmPorts
	data   string // its dataDir, absolute
	folder string // where it runs
	argv   []string
	proc   *process // the current or last run; nil before the first
}

// Start runs the server's process.
func (n *jvmNode) Start(context.Context) (err error) {
	n.proc, err = startProcess(n.argv, n.folder)
	return err
}

// Stop ends the process, if it was started.
func (n *jvmNode) Stop(ctx context.Context) error {
	if n.proc == nil {
		return nil
	}
	return n.proc.stop(ctx)
}

// Kill kills the process.
func (n *jvmNode) Kill() error { return n.proc.kill() }

// Ended returns the process's exit status.
func (n *jvmNode) Ended(context.Context) string {
	if n.proc.running() {
		return ""
	}
	return n.proc.cmd.ProcessState.String()
}

// LastWords returns the end of what the process has printed.
func (n *jvmNode) LastWords(context.Context) string { return n.proc.log.String() }
