package harness

import "syscall"

// childAttributes make the kernel kill the server when this process dies, even
// by SIGKILL. So a test run never leaves a JVM behind.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
