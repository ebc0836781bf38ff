//go:build !linux

package eventloop

import (
	"net"
	"time"
)

// setUserTimeout does nothing: PING detects a vanished server.
func setUserTimeout(net.Conn, time.Duration) error { return nil }
