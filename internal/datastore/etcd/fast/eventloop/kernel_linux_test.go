package eventloop

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/servertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// The kernel gives up a connection whose peer acknowledges nothing. ClientV3 sets the same limit.
func TestKernelLimitsSilence(t *testing.T) {
	address := serve(t, "127.0.0.1:0", &lineServer{})
	conn := open(t, newLineClient(t, lineConfig{Config: Config{KeepAliveTimeout: 7 * time.Second}}), address)
	onLoop(conn, func() {
		fd := conn.current.socket.(*descriptor).fd
		if got, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT); err != nil || got != 7_000 {
			t.Errorf("TCP_USER_TIMEOUT is %d ms, %v; wanted 7000", got, err)
		}
	})
}

// Encrypted bytes that the kernel has not taken are sent when it takes more, even if they are the end of the output.
func TestTheRestOfARecordLeaves(t *testing.T) {
	lengths := make(chan int, 1)
	address := serve(t, "127.0.0.1:0", &lineServer{secure: true, call: func(words string) string {
		lengths <- len(words)
		return string(appendAnswer(nil, []byte(words)))
	}})
	conn := open(t, newLineClient(t, lineConfig{Config: Config{TLS: servertest.Trust("lines")}}), address)
	onLoop(conn, func() {
		fd := conn.current.socket.(*tlsTransport).Socket.(*descriptor).fd
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 1); err != nil {
			t.Error(err)
		}
	})
	for _, length := range []int{7, 5_000, 20_000, 32_700, 100_000, 500_000} {
		words := "count " + strings.Repeat("x", length-len("count "))
		if got := say(t.Context(), conn, words); !got.Succeeded() {
			t.Fatalf("%d bytes: %+v", length, got)
		}
		if got := <-lengths; got != length {
			t.Errorf("the server got %d bytes of %d", got, length)
		}
	}
}

// A deadline is absolute, in the kernel's clock: time that passes before it is set makes no wait longer.
func TestTheTimerHasAbsoluteDeadlines(t *testing.T) {
	polling, err := newPoller()
	if err != nil {
		t.Fatal(err)
	}
	defer polling.close()
	p := polling.(*epoll)
	for range 5 {
		at := load.Now().Add(5 * time.Millisecond)
		// A signal ends a wait early.
		for load.Now() < at {
			p.wait(nil, never, at)
		}
	}
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", p.timerFD))
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("settime flags: %02o\n", unix.TFD_TIMER_ABSTIME); !strings.Contains(string(info), want) {
		t.Errorf("the timer is\n%s\nwanted %s", info, want)
	}
}

func TestOnlyThePortablePollerIsCoarse(t *testing.T) {
	for portable, want := range map[bool]bool{false: true, true: false} {
		c := newLineClient(t, lineConfig{Config: Config{Portable: portable}})
		if got := c.loops[0].Exact(); got != want {
			t.Errorf("portable %v: exact is %v, wanted %v", portable, got, want)
		}
	}
}
