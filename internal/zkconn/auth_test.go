package zkconn

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const secret = "hunter2"

func TestParseAuth(t *testing.T) {
	auths, err := ParseAuth("# who we are\n\n digest:ann:" + secret + ":with:colons \r\ndigest:bob:\n")
	if err != nil || len(auths) != 2 {
		t.Fatalf("%v, %v", auths, err)
	}
	if got := *auths[0].credential; got != "ann:"+secret+":with:colons" || auths[0].Scheme != "digest" {
		t.Errorf("the first credential is %q", got)
	}
	if got := *auths[1].credential; got != "bob:" {
		t.Errorf("the second credential is %q", got)
	}
	const form = `expected lines of the form scheme:user:password, such as "digest:user:password"`
	for _, tc := range []struct{ in, want string }{
		{secret, "credentials, line 1: " + form},
		{"\ndigest:" + secret, "credentials, line 2: " + form},
		{"sasl:ann:" + secret, "credentials, line 1: only the scheme digest is known: " + form},
		{strings.Repeat(secret, 10000), "bufio.Scanner: token too long"},
	} {
		_, err := ParseAuth(tc.in)
		wantAuthError(t, err, tc.want)
	}
}

func TestReadAuthFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "auth")
	write := func(text string, mode os.FileMode) {
		t.Helper()
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	write("digest:ann:"+secret, 0o600)
	if auths, err := ReadAuthFile(path); err != nil || len(auths) != 1 {
		t.Fatalf("%v, %v", auths, err)
	}
	write("digest:ann:"+secret, 0o640)
	_, err := ReadAuthFile(path)
	wantAuthError(t, err, fmt.Sprintf("credentials: %s can be read by others (mode 0640): chmod 600 %s", path, path))
	write(secret, 0o600)
	_, err = ReadAuthFile(path)
	wantAuthError(t, err, path+`: credentials, line 1: expected lines of the form scheme:user:password, such as "digest:user:password"`)
	_, err = ReadAuthFile(filepath.Join(dir, "none"))
	wantAuthError(t, err, "credentials: open "+filepath.Join(dir, "none")+": no such file or directory")
	_, err = ReadAuthFile("/dev/null/none")
	wantAuthError(t, err, "credentials: open /dev/null/none: not a directory")
}

// Printing a credential, or a value that contains one, never shows the
// password, whichever way careless code prints it.
func TestAuthNeverPrinted(t *testing.T) {
	a := DigestAuth("ann", secret)
	cfg := Config{Auth: []Auth{a}}
	s := &session{cfg: cfg}
	type hidden struct{ cfg Config }
	for _, v := range []any{a, &a, cfg, &cfg, cfg.Auth, hidden{cfg}, s, *newReader(s), &Writer{*newReader(s)}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o"} {
			checkHidden(t, verb, fmt.Sprintf(verb, v))
		}
		b, _ := json.Marshal(a)
		checkHidden(t, "JSON", string(b))
		var text strings.Builder
		slog.New(slog.NewTextHandler(&text, nil)).Info("it", "value", v)
		checkHidden(t, "slog", text.String())
	}
	if a.String() != "digest:…" {
		t.Error(a.String())
	}
}

func checkHidden(t *testing.T, how, text string) {
	t.Helper()
	for _, form := range []string{"%s", "%x", "%X"} {
		if strings.Contains(text, fmt.Sprintf(form, secret)) {
			t.Errorf("%s shows the password: %s", how, text)
		}
	}
	for _, form := range []string{"%d", "%o", "%#v"} {
		digits := strings.Trim(fmt.Sprintf(form, []byte(secret)), "[]")
		if form == "%#v" {
			digits = strings.TrimSuffix(strings.TrimPrefix(digits, "byte{"), "}")
			digits = strings.TrimPrefix(digits, "]byte{")
		}
		if strings.Contains(text, digits) {
			t.Errorf("%s shows the password's bytes: %s", how, text)
		}
	}
}

func wantAuthError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("\ngot  %v\nwant %s", err, want)
	}
}
