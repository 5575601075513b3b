package znode

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrPath is wrapped by every error of [ValidatePath].
var ErrPath = errors.New("invalid znode path")

// ValidatePath checks a path by the server's own rules (PathUtils.validatePath):
// absolute, no empty, "." or ".." element, no trailing slash, and none of the
// characters ZooKeeper refuses. The error wraps [ErrPath].
func ValidatePath(path string) error {
	bad := func(why string) error { return fmt.Errorf("%w %q: %s", ErrPath, path, why) }
	if path == "/" {
		return nil
	}
	if !strings.HasPrefix(path, "/") {
		return bad("it must start with /")
	}
	for rest, more := path[1:], true; more; {
		var name string
		switch name, rest, more = strings.Cut(rest, "/"); name {
		case "":
			return bad("it has an empty element")
		case ".", "..":
			return bad("relative elements are not allowed")
		}
	}
	if !utf8.ValidString(path) {
		return bad("it is not UTF-8")
	}
	for _, r := range path {
		if !allowedRune(r) {
			return bad(fmt.Sprintf("character %U is not allowed", r))
		}
	}
	return nil
}

// allowedRune is PathUtils.validatePath's character rule. The server looks at
// UTF-16 units, so characters past U+FFFF (surrogate pairs there) are refused.
func allowedRune(r rune) bool {
	switch {
	case r <= 0x1f, r >= 0x7f && r <= 0x9f, r >= 0xd800 && r <= 0xf8ff, r >= 0xfff0:
		return false
	}
	return true
}

// Parent returns the path of the node above; the root's is "".
func Parent(path string) string {
	if path == "/" {
		return ""
	}
	i := strings.LastIndexByte(path, '/')
	if i == 0 {
		return "/"
	}
	return path[:i]
}

// Name returns the last element of a path; the root's is "".
func Name(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// Join returns the path of a child.
func Join(parent, name string) string {
	if parent == "/" {
		return "/" + name
	}
	return parent + "/" + name
}

// Within reports whether path is root or is below it.
func Within(path, root string) bool {
	return root == "/" || path == root || strings.HasPrefix(path, root+"/")
}
