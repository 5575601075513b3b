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

// split returns the path of a node's parent, which is "" for the root. Create and delete do this
// first, so its check is weaker than validatePath's.
func split(path string) (parent string, err error) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 || strings.IndexByte(path, 0) >= 0 {
		return "", jute.BadArguments
	}
	return path[:i], nil
}
