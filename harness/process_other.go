//go:build !linux

package harness

import "syscall"

// childAttributes has nothing to set: killing children with their parent is
// Linux's own.
func childAttributes() *syscall.SysProcAttr { return nil }
