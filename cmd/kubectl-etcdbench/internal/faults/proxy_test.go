package faults

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// proxy forwards connections to an address, with a delay for each chunk of bytes.
type proxy struct {
	listener net.Listener
	to       string
	delay    time.Duration
	// cut: connections are refused.
	cut atomic.Bool

	mutex sync.Mutex
	open  []net.Conn
}

// startProxy forwards the connections of a free port until the test ends.
func startProxy(t *testing.T, to string, delay time.Duration) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: listener, to: to, delay: delay}
	var serving sync.WaitGroup
	serving.Go(p.serve)
	t.Cleanup(func() {
		_ = listener.Close()
		p.sever()
		serving.Wait()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

// sever closes all connections and refuses new ones.
func (p *proxy) sever() {
	p.cut.Store(true)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, c := range p.open {
		_ = c.Close()
	}
}

func (p *proxy) serve() {
	var carrying sync.WaitGroup
	defer carrying.Wait()
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", p.to)
		if err != nil || !p.keep(near, far) {
			_ = near.Close()
			continue
		}
		carrying.Go(func() { p.carry(near, far) })
		carrying.Go(func() { p.carry(far, near) })
	}
}

// keep registers connections for sever.
func (p *proxy) keep(near, far net.Conn) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.cut.Load() {
		_ = far.Close()
		return false
	}
	p.open = append(p.open, near, far)
	return true
}

// chunk is delivered when it is due.
type chunk struct {
	bytes []byte
	due   time.Time
}

// carry forwards bytes in one direction. Chunks wait in parallel, so the delay does not reduce the throughput.
func (p *proxy) carry(from io.ReadCloser, to io.WriteCloser) {
	way := make(chan chunk, 4096)
	var arriving sync.WaitGroup
	arriving.Go(func() { p.arrive(way, to) })
	for {
		buffer := make([]byte, 32<<10)
		n, err := from.Read(buffer)
		if n > 0 {
			way <- chunk{buffer[:n], time.Now().Add(p.delay)}
		}
		if err != nil {
			break
		}
	}
	close(way)
	arriving.Wait()
	_ = from.Close()
}

func (p *proxy) arrive(way <-chan chunk, to io.WriteCloser) {
	defer to.Close()
	for c := range way {
		if wait := time.Until(c.due); wait > 0 {
			<-time.After(wait)
		}
		// A reader that is gone has closed the connection, which also ends carry.
		_, _ = to.Write(c.bytes)
	}
}
