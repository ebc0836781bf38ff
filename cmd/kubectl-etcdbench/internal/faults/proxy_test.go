package faults

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// proxy carries connections to an address, each chunk of bytes so much later.
type proxy struct {
	listener net.Listener
	to       string
	delay    time.Duration
	// cut: connections are refused from now on.
	cut atomic.Bool

	mutex sync.Mutex
	open  []net.Conn
}

// startProxy carries what comes to a free port until the test ends.
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

// sever ends all connections, and lets no other come.
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

// keep remembers connections, to end them.
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

// chunk is on its way until it is due.
type chunk struct {
	bytes []byte
	due   time.Time
}

// carry moves bytes in one direction. Chunks wait beside each other: a delay
// takes nothing away from what the connection can carry.
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
		// Who no longer reads has closed the connection, which ends the reading too.
		_, _ = to.Write(c.bytes)
	}
}
