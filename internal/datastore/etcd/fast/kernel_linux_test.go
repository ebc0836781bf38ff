package fast

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
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

// What TLS has encrypted and the kernel has not taken leaves when it takes more,
// also if it is the very end of what there is to write.
func TestTheRestOfARecordLeaves(t *testing.T) {
	lengths := make(chan int, 1)
	_, address := serve(t, "127.0.0.1:0", &kv{puts: func(_ context.Context, r *pb.PutRequest) (*pb.PutResponse, error) {
		lengths <- len(r.Value)
		return &pb.PutResponse{}, nil
	}}, withTLS(), grpc.InitialWindowSize(1<<20), grpc.InitialConnWindowSize(1<<20))
	conn := open(t, newTestClient(t, Config{TLS: trust()}), address)
	onLoop(conn, func() {
		fd := conn.current.socket.(*tlsTransport).socket.(*descriptor).fd
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 1); err != nil {
			t.Error(err)
		}
	})
	for _, length := range []int{1, 5_000, 20_000, 32_700, 100_000, 500_000} {
		if got := put(t.Context(), conn, "k", make([]byte, length)); !got.Succeeded() {
			t.Fatalf("a value of %d bytes: %+v", length, got)
		}
		if got := <-lengths; got != length {
			t.Errorf("the server got %d bytes of %d", got, length)
		}
	}
}

// A deadline is the kernel's: what passes before it is set makes no wait longer.
func TestTheTimerHasAbsoluteDeadlines(t *testing.T) {
	polling, err := newPoller()
	if err != nil {
		t.Fatal(err)
	}
	defer polling.close()
	p := polling.(*epoll)
	for range 5 {
		at := load.Now().Add(5 * time.Millisecond)
		if p.wait(nil, never, at); load.Now() < at {
			t.Errorf("a wait ended %v early", at.Sub(load.Now()))
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
		c := newTestClient(t, Config{Portable: portable})
		if got := c.loops[0].Exact(); got != want {
			t.Errorf("portable %v: exact is %v, wanted %v", portable, got, want)
		}
	}
}
