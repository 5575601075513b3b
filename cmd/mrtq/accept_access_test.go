package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"mrtq/cmd/mrtq/internal/exit"
	"mrtq/harness"
)

// accept works on a server with TLS, below a znode that only the owner of a password may
// use.
func TestAcceptWithCredentials(t *testing.T) {
	server := harness.ForTest(t, harness.TestBackend(), harness.Options{TLS: true})
	connect := func() *zk.Conn {
		conn, _, err := zk.Connect([]string{server.Address()}, 10*time.Second, zk.WithLogInfo(false))
		must(t, err)
		t.Cleanup(conn.Close)
		return conn
	}
	owner, stranger := connect(), connect()
	must(t, owner.AddAuth("digest", []byte("me:secret")))
	value(owner.Create("/private", []byte{}, 0, zk.DigestACL(zk.PermAll, "me", "secret")))(t)
	files := server.TLSFiles()
	secure := []string{"--tls-ca", files.CA, "--tls-cert", files.Cert, "--tls-key", files.Key}
	const password = "MRTQ_ZK_AUTH=digest:me:secret"
	accept := func(environment string, args ...string) (*exec.Cmd, *bytes.Buffer) {
		var stderr bytes.Buffer
		cmd := exec.Command("mrtq", append([]string{"accept", "--backend", server.SecureAddress() + "/private"}, args...)...)
		cmd.Env, cmd.Stderr = append(os.Environ(), environment), &stderr
		return cmd, &stderr
	}

	for _, c := range []struct {
		name, environment string
		args              []string
		want              string
	}{
		{"no credentials", "", secure, `no permission to create a znode in "/private/" there; give credentials`},
		{"another's credentials", "MRTQ_ZK_AUTH=digest:you:secret", secure, `no permission to create a znode in "/private/" there`},
		{"no TLS", password, nil, "cannot open a session with ZooKeeper at " + server.SecureAddress()},
		{"an unknown authority", password, []string{"--tls"}, "certificate signed by unknown authority"},
		{"no certificate", password, []string{"--tls-ca", files.CA}, "cannot open a session with ZooKeeper at " + server.SecureAddress()},
	} {
		cmd, stderr := accept(c.environment, append(c.args, "--tags", "@J9", "--timeout", "3s")...)
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != exit.Environment || !strings.Contains(stderr.String(), c.want) || strings.Contains(stderr.String(), "secret") {
			t.Errorf("%s: %v\ngot  %swant %s", c.name, err, stderr, c.want)
		}
	}

	_, _, created, err := owner.ChildrenW("/private")
	must(t, err)
	cmd, stderr := accept(password, append(secure, "--dialect", "design")...)
	must(t, cmd.Start())
	<-created // its chroot
	names, _, err := owner.Children("/private")
	if err != nil || len(names) != 1 {
		t.Fatalf("%v, %v", names, err)
	}
	if _, _, err := stranger.Children("/private/" + names[0]); !errors.Is(err, zk.ErrNoAuth) {
		t.Errorf("a client without the password reads the chroot: %v", err)
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(stderr.String(), "scenarios in dialect design; ") {
		t.Errorf("%v\n%s", err, stderr)
	}
	if names, _, err := owner.Children("/private"); err != nil || len(names) > 0 {
		t.Errorf("left behind: %v %v", names, err)
	}
}
