package zkconn

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Auth is one credential of a session. Printing it never shows its secret.
type Auth struct {
	Scheme string // "digest"
	// "user:password". It is a pointer because fmt prints an unexported pointer
	// as an address, with every verb.
	credential *string
}

// DigestAuth returns a credential of ZooKeeper's digest scheme.
func DigestAuth(user, password string) Auth {
	credential := user + ":" + password
	return Auth{Scheme: "digest", credential: &credential}
}

// UserPassword returns the parts of the credential for another library. Don't
// print them.
func (a Auth) UserPassword() (user, password string) {
	user, password, _ = strings.Cut(*a.credential, ":")
	return user, password
}

// String hides the password.
func (a Auth) String() string { return a.Scheme + ":…" }

var errAuth = errors.New(`expected lines of the form scheme:user:password, such as "digest:user:password"`)

// ParseAuth reads credentials, one a line. It skips empty lines and lines that start
// with #. Errors never quote the line.
func ParseAuth(text string) ([]Auth, error) {
	var auths []Auth
	sc := bufio.NewScanner(strings.NewReader(text))
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		scheme, credential, ok := strings.Cut(line, ":")
		if !ok || !strings.Contains(credential, ":") {
			return nil, fmt.Errorf("credentials, line %d: %w", n, errAuth)
		}
		if scheme != "digest" {
			return nil, fmt.Errorf("credentials, line %d: only the scheme digest is known: %w", n, errAuth)
		}
		auths = append(auths, Auth{Scheme: scheme, credential: &credential})
	}
	return auths, sc.Err()
}

// ReadAuthFile reads credentials from a file. Only the owner may have
// permission to read it.
func ReadAuthFile(path string) ([]Auth, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("credentials: %s can be read by others (mode %04o): chmod 600 %s", path, info.Mode().Perm(), path)
	}
	auths, err := ParseAuth(string(b))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return auths, nil
}
