package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"mrtq/internal/zkconn"
)

// probeInterval is how often the harness checks whether a starting server has
// ended.
const probeInterval = 50 * time.Millisecond

// awaitReady returns when it has opened a session with server i at host and
// read /zookeeper. An open port is not enough, because a container's proxy
// accepts connections before the server does. If the server ends
// meanwhile, awaitReady returns an *ExitError.
func (s *Server) awaitReady(ctx context.Context, i int, host string, client Client) error {
	n := s.cluster.nodes[i]
	ctx, cancel := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	defer func() { cancel(nil); <-watched }()
	go func() {
		defer close(watched)
		for state := ""; state == ""; state = n.Ended(ctx) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(probeInterval):
			}
		}
		cancel(&ExitError{s.backend, i, n.Ended(ctx), n.LastWords(ctx)})
	}()

	err := withSession(ctx, []string{host}, client, func(w *zkconn.Writer) error {
		_, err := w.Get(ctx, "/zookeeper")
		return err
	})
	if jvm, is := n.(*jvmNode); is && err == nil {
		err = checkDataDir(ctx, loopback(jvm.ports.client), jvm.data)
	}
	if err == nil {
		return nil
	}
	if exit := (*ExitError)(nil); errors.As(context.Cause(ctx), &exit) {
		return exit
	}
	err = fmt.Errorf("harness: server at %s: %w", host, err)
	if !errors.Is(err, errPortTaken) {
		if words := n.LastWords(context.WithoutCancel(ctx)); words != "" {
			err = fmt.Errorf("%w; the end of its log:\n%s", err, indent(words))
		}
	}
	return err
}

// fourLetters sends a four-letter word and returns the answer.
func fourLetters(ctx context.Context, host, word string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	d := net.Dialer{}
	conn, err := d.DialContext(ctx, "tcp", host)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err := io.WriteString(conn, word); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(io.LimitReader(conn, 1<<20))
	return string(answer), err
}

// checkDataDir returns an error that matches errPortTaken unless the server at
// host uses dataDir. Two processes may have chosen the same port. Then only the
// server that was faster gets it. The other one ends, but until it has ended, the
// faster server answers in its place.
func checkDataDir(ctx context.Context, host, dataDir string) error {
	conf, err := fourLetters(ctx, host, "conf")
	if err != nil {
		return fmt.Errorf("ask for its configuration: %w", err)
	}
	for line := range strings.Lines(conf) {
		if dir, ok := strings.CutPrefix(strings.TrimSpace(line), "dataDir="); ok {
			if strings.HasPrefix(dir, dataDir+"/") {
				return nil
			}
			return fmt.Errorf("%w: a server with the dataDir %s answers there", errPortTaken, dir)
		}
	}
	return fmt.Errorf("%w: what answers there names no dataDir: %.80q", errPortTaken, conf)
}
