package fast

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The kernel gives up a connection whose peer acknowledges nothing, as ClientV3
// lets it.
func TestKernelLimitsSilence(t *testing.T) {
	_, address := serve(t, "127.0.0.1:0", &kv{})
	conn := open(t, newTestClient(t, Config{KeepAliveTimeout: 7 * time.Second}), address)
	onLoop(conn, func() {
		fd := conn.current.socket.(*descriptor).fd
		if got, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT); err != nil || got != 7_000 {
			t.Errorf("TCP_USER_TIMEOUT is %d ms, %v; wanted 7000", got, err)
		}
	})
}
