//go:build unix && !linux

package supervisor

import "syscall"

// ofMember gives a member a group of its own.
func ofMember() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
