package etcd

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
)

// delay is a TCP proxy that holds back what it carries in both directions.
func delay(t *testing.T, to string, by time.Duration) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	carry := func(from, to net.Conn) {
		defer to.Close()
		buffer := make([]byte, 1<<16)
		for {
			n, err := from.Read(buffer)
			if err != nil {
				return
			}
			piece := append([]byte(nil), buffer[:n]...)
			<-time.After(by)
			if _, err := to.Write(piece); err != nil {
				return
			}
		}
	}
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			go carry(in, out)
			go carry(out, in)
		}
	}()
	return listener.Addr().String()
}

// A ping takes the way there and back, and is no request to etcd. A member that does not answer is missing.
func TestPing(t *testing.T) {
	const oneWay = 40 * time.Millisecond
	for name, authority := range map[string]*etcdtest.Authority{"plain text": nil, "client certificates": etcdtest.NewAuthority(t)} {
		t.Run(name, func(t *testing.T) {
			cluster := etcdtest.Start(t, 1, authority)
			p := planFor([]string{delay(t, cluster.Endpoints[0], oneWay)})
			if authority != nil {
				withTLS(authority.SecretDir(t), "")(&p)
			}
			d := connected(t, p)
			id := cluster.Members[0].Server.MemberID().String()
			before := d.Requests()
			shortest := time.Hour
			for range 5 {
				took, answered := d.Ping(withTimeout(t))[id]
				if !answered || took < 2*oneWay {
					t.Errorf("a ping took %v, %v, wanted at least %v", took, answered, 2*oneWay)
				}
				shortest = min(shortest, took)
			}
			// Settings take the same way once more, and so does TLS.
			if shortest >= 4*oneWay {
				t.Errorf("the shortest ping took %v, wanted less than twice the way there and back: opening the connection is included", shortest)
			}
			for rpc, phases := range d.Requests() {
				for phase, n := range phases {
					if n != before[rpc][phase] {
						t.Errorf("pings sent %d requests %s", n-before[rpc][phase], rpc)
					}
				}
			}
			cluster.Stop(0)
			short, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if got := d.Ping(short); len(got) != 0 {
				t.Errorf("a stopped member answered: %v", got)
			}
		})
	}
}

// A server that accepts and says nothing, or only its own settings, does not answer a ping.
func TestAPingNeedsAnAnswer(t *testing.T) {
	for name, says := range map[string]string{
		"nothing": "", "its own settings": "\x00\x00\x00\x04\x00\x00\x00\x00\x00", "no answer to the ping": "\x00\x00\x00\x04\x01\x00\x00\x00\x00", "something else": "HTTP/1.1 400 Bad Request\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			here, there := net.Pipe()
			defer here.Close()
			defer there.Close()
			go func() { _, _ = io.Copy(io.Discard, there) }()
			go func() { _, _ = io.WriteString(there, says) }()
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if _, err := pingOn(ctx, here); err == nil {
				t.Error("took it for an answer")
			}
		})
	}
}
