package ztree

import (
	"strings"

	"mrtq/internal/jute"
)

// validatePath refuses with BadArguments what ZooKeeper's PathUtils refuses. PathUtils checks
// UTF-16 units, so it refuses all characters beyond the basic plane. It sees bytes that are not
// UTF-8 as U+FFFD, and refuses that, too.
func validatePath(path string) error {
	if path == "" || path[0] != '/' {
		return jute.BadArguments
	}
	if path == "/" {
		return nil
	}
	for _, name := range strings.Split(path[1:], "/") {
		if name == "" || name == "." || name == ".." {
			return jute.BadArguments
		}
	}
	for _, r := range path {
		switch {
		case r <= 0x1f, r >= 0x7f && r <= 0x9f, r >= 0xd800 && r <= 0xf8ff, r >= 0xfff0:
			return jute.BadArguments
		}
	}
	return nil
}

// split splits a path into its parent's path, which is "" for the root, and its last name. Create
// and delete do this first, so its check is weaker than validatePath's.
func split(path string) (parent, name string, err error) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 || strings.IndexByte(path, 0) >= 0 {
		return "", "", jute.BadArguments
	}
	return path[:i], path[i+1:], nil
}

// watchPath turns a parent's path, as split returns it, into the path for its watches: the root's
// is "/".
func watchPath(parent string) string {
	if parent == "" {
		return "/"
	}
	return parent
}
