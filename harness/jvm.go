package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"mrtq/harness/internal/node"
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
	missing := func(what string) (toolchain, error) {
		return toolchain{}, &UnavailableError{Backend: JVM, Missing: what, Remedy: jvmRemedy}
	}
	java := "java"
	if home := getenv("JAVA_HOME"); home != "" {
		java = filepath.Join(home, "bin", "java")
	}
	java, err := exec.LookPath(java)
	if err != nil {
		return missing("no Java runtime found (" + err.Error() + ")")
	}
	if home := getenv("ZOOKEEPER_HOME"); home != "" {
		jars := filepath.Join(home, "lib")
		if found, _ := filepath.Glob(filepath.Join(jars, "zookeeper-[0-9]*.jar")); len(found) == 0 {
			return missing("no zookeeper-*.jar in ZOOKEEPER_HOME's " + jars)
		}
		return toolchain{java, filepath.Join(jars, "*")}, nil
	}
	var path []string
	for _, jar := range debianClassPath {
		jar = filepath.Join(debian, jar)
		if _, err := os.Stat(jar); err != nil {
			return missing("no " + jar)
		}
		path = append(path, jar)
	}
	return toolchain{java, strings.Join(path, string(os.PathListSeparator))}, nil
}

func (s *Server) launchJVM(ctx context.Context) error {
	tools, err := findJVM(os.Getenv, debianJars)
	if err != nil {
		return err
	}
	// Each server has a client port, a secure port, and two for the ensemble.
	ports, err := takePorts(4 * s.opt.Nodes)
	if err != nil {
		return err
	}
	s.remove = func(ctx context.Context) error { // Stop removes the processes' folder
		var err error
		for _, n := range s.nodes {
			err = errors.Join(err, n.Stop(ctx))
		}
		return err
	}
	for i := range s.opt.Nodes {
		n, err := s.newJVMNode(tools, i, ports)
		if err != nil {
			return err
		}
		if err := n.Start(ctx); err != nil {
			return err
		}
		s.nodes = append(s.nodes, n)
		at := portsOf(ports, i)
		s.hosts = append(s.hosts, loopback(at.client))
		if s.opt.TLS {
			s.secureHosts = append(s.secureHosts, loopback(at.secure))
		}
	}
	return nil
}

// jvmPorts are the ports of one server. The last two are for the other servers.
type jvmPorts struct{ client, secure, quorum, election int }

func portsOf(ports []int, i int) jvmPorts {
	p := ports[4*i:]
	return jvmPorts{p[0], p[1], p[2], p[3]}
}

func (s *Server) newJVMNode(tools toolchain, i int, ports []int) (*jvmNode, error) {
	at := portsOf(ports, i)
	data, conf := filepath.Join(s.dir, fmt.Sprintf("server.%d", i+1)), filepath.Join(s.dir, fmt.Sprintf("conf.%d", i+1))
	p := s.opt.properties()
	p["dataDir"] = data
	p["clientPort"] = fmt.Sprint(at.client)
	p["clientPortAddress"] = "127.0.0.1"
	if s.opt.TLS {
		withTLS(p, at.secure, s.certificate)
		p["secureClientPortAddress"] = "127.0.0.1"
	}
	if s.opt.Nodes > 1 {
		for j := range s.opt.Nodes {
			peer := portsOf(ports, j)
			p[fmt.Sprintf("server.%d", j+1)] = fmt.Sprintf("127.0.0.1:%d:%d", peer.quorum, peer.election)
		}
	}
	err := errors.Join(
		os.MkdirAll(data, 0o700),
		os.MkdirAll(conf, 0o700),
		os.WriteFile(filepath.Join(conf, "zoo.cfg"), []byte(cfgText(p)), 0o600),
		os.WriteFile(filepath.Join(conf, "logback.xml"), []byte(logbackConfig), 0o600),
		os.WriteFile(filepath.Join(data, "myid"), fmt.Appendln(nil, i+1), 0o600))
	if err != nil {
		return nil, fmt.Errorf("harness: configure server %d: %w", i, err)
	}
	argv := append([]string{tools.java}, s.javaFlags()...)
	argv = append(argv, "-Dorg.slf4j.simpleLogger.showDateTime=true",
		"-cp", conf+string(os.PathListSeparator)+tools.classPath,
		serverClass, filepath.Join(conf, "zoo.cfg"))
	return &jvmNode{folder: s.dir, argv: argv}, nil
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

// stopTimeout is how long a server may take to shut down before it is killed.
const stopTimeout = 10 * time.Second

// jvmNode is one server as a child process: its current or last run.
type jvmNode struct {
	folder string // where it runs
	argv   []string
	cmd    *exec.Cmd
	log    *node.Tail
	end    context.CancelFunc // asks it to end, and kills it after stopTimeout
	done   chan struct{}      // closed when the process has ended and been waited for
}

func (n *jvmNode) Start(context.Context) error {
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, n.argv[0], n.argv[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopTimeout
	cmd.Dir = n.folder
	log, done := &node.Tail{}, make(chan struct{})
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = childAttributes()
	started := make(chan error)
	go func() {
		// For Linux, the child's parent is the thread that forked, so that
		// thread must live as long as the child (golang/go#27505).
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // its state says how it ended
			close(done)
		}
	}()
	if err := <-started; err != nil {
		cancel()
		return fmt.Errorf("harness: start %s: %w", n.argv[0], err)
	}
	n.cmd, n.log, n.end, n.done = cmd, log, cancel, done
	return nil
}

// Stop asks the process to end. It kills the process if it does not end, or
// when ctx is done. It returns when the process has ended.
func (n *jvmNode) Stop(ctx context.Context) error {
	n.end()
	select {
	case <-n.done:
		return nil
	case <-ctx.Done():
		return n.Kill()
	}
}

func (n *jvmNode) Kill() error {
	if err := n.cmd.Process.Kill(); err != nil && err != os.ErrProcessDone {
		return fmt.Errorf("harness: kill process %d: %w", n.cmd.Process.Pid, err)
	}
	<-n.done
	return nil
}

func (n *jvmNode) Ended(context.Context) string {
	select {
	case <-n.done:
		return n.cmd.ProcessState.String()
	default:
		return ""
	}
}

func (n *jvmNode) LastWords(context.Context) string { return n.log.String() }
