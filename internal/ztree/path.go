package ztree

import (
	"strings"

	"mrtq/internal/jute"
	"mrtq/internal/znode"
)

// validatePath is [znode.ValidatePath] with the server's error, BadArguments.
func validatePath(path string) error {
	if znode.ValidatePath(path) != nil {
		return jute.BadArguments
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
