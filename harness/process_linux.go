package harness

import "syscall"

// childAttributes make the kernel kill the server when we die, even by SIGKILL:
// no test run leaves a JVM behind.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
