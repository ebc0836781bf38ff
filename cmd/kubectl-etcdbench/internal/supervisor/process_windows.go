package supervisor

import (
	"os"
	"syscall"
)

// withoutConsole is CREATE_NO_WINDOW: what ends the processes of a console does not reach this one.
const withoutConsole = 0x08000000

func ofSupervisor() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | withoutConsole}
}

func ofMember() *syscall.SysProcAttr { return ofSupervisor() }

func kill(member *os.Process) error { return member.Kill() }
