//go:build unix

package supervisor

import (
	"os"
	"syscall"
)

// ofSupervisor gives the supervisor a session of its own, which a terminal does not signal.
func ofSupervisor() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// kill kills a member and the programs that it has started.
func kill(member *os.Process) error { return syscall.Kill(-member.Pid, syscall.SIGKILL) }
