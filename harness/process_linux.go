package harness

import "syscall"

// childAttributes returns attributes that make the kernel kill the server when
// this process ends, even by SIGKILL. So a test run never leaves a JVM behind.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
