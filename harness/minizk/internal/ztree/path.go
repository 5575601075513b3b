package ztree

import (
	"strings"

	"mrtq/harness/minizk/wire"
)

// validatePath refuses with BadArguments what ZooKeeper's PathUtils refuses. The rule for
// characters is written for UTF-16 units, so it excludes everything beyond the basic plane;
// bytes that are not UTF-8 arrive there as U+FFFD, which it excludes too.
func validatePath(path string) error {
	if path == "" || path[0] != '/' {
		return wire.BadArguments
	}
	if path == "/" {
		return nil
	}
	for _, name := range strings.Split(path[1:], "/") {
		if name == "" || name == "." || name == ".." {
			return wire.BadArguments
		}
	}
	for _, r := range path {
		switch {
		case r <= 0x1f, r >= 0x7f && r <= 0x9f, r >= 0xd800 && r <= 0xf8ff, r >= 0xfff0:
			return wire.BadArguments
		}
	}
	return nil
}

// split is the weaker check that create and delete do first: it returns the parent's path, ""
// for the root, and the last name.
func split(path string) (parent, name string, err error) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 || strings.IndexByte(path, 0) >= 0 {
		return "", "", wire.BadArguments
	}
	return path[:i], path[i+1:], nil
}

// watchPath is the path under which watches of a parent are kept: the root's is "/".
func watchPath(parent string) string {
	if parent == "" {
		return "/"
	}
	return parent
}
