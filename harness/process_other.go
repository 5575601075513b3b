//go:build !linux

package harness

import "syscall"

// childAttributes returns nil, because only Linux can kill a child when its parent
// ends.
func childAttributes() *syscall.SysProcAttr { return nil }
