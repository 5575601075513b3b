//go:build !linux

package harness

import "syscall"

// childAttributes sets nothing, because only Linux can kill children with their
// parent.
func childAttributes() *syscall.SysProcAttr { return nil }
