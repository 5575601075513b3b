package harness_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// wantNothingAt fails if a server answers at the address. The connection must
// be refused, or closed by a container's proxy that is ending.
func wantNothingAt(t *testing.T, address string) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	io.WriteString(conn, "ruok")
	if answer, _ := io.ReadAll(conn); len(answer) > 0 {
		t.Errorf("%s still answers: %q", address, answer)
	}
}

func fourLetters(t *testing.T, address, word string) string {
	t.Helper()
	conn := value(net.DialTimeout("tcp", address, 5*time.Second))(t)
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	io.WriteString(conn, word)
	answer, err := io.ReadAll(conn)
	if err != nil || len(answer) == 0 {
		t.Fatalf("%s: %q, %v", word, answer, err)
	}
	return string(answer)
}

func wantLine(t *testing.T, text, begin string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, begin) {
			return
		}
	}
	t.Errorf("no line begins with %q in:\n%s", begin, text)
}
