package supervisor

import "syscall"

// ofMember gives a member a group of its own. Linux kills it if the supervisor is killed.
func ofMember() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
