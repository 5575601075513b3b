package newqueue_test

import (
	"io"
	"os"
	"testing"
)

// exampleAddress is a server with an unused tree.
func exampleAddress() string { return server.s.Address() }

func TestExample(t *testing.T) {
	address(t) // or skip
	must(t, server.s.Clean(ctx))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = w
	Example()
	os.Stdout = stdout
	w.Close()
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `
jid0000000000 is estimating
jid0000000000 is provisioning
jid0000000000 is downloading
jid0000000000 is processing
jid0000000000 is recording
jid0000000000 is notify
jid0000000000 is completed
bid0000000000 is completed with 1 job completed and 0 failed
`
	if string(got) != want[1:] {
		t.Errorf("got\n%s\nwant\n%s", got, want[1:])
	}
}
