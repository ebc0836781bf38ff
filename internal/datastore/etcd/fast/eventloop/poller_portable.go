package eventloop

import (
	"net"
	"sync"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// portable is a poller on Go's net package, for systems without epoll: two goroutines for each socket move bytes
// between it and memory.
type portable struct {
	wakeups chan struct{}
	timer   *time.Timer

	mutex sync.Mutex
	ready []*Link
}

func newPortablePoller() poller {
	return &portable{wakeups: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
}

func (p *portable) adopt(conn net.Conn, k *Link) (Socket, error) {
	s := &pipe{poller: p, conn: conn, link: k}
	s.changed.L = &s.mutex
	go s.reader()
	go s.writer()
	return s, nil
}

func (p *portable) wait(ready []*Link, coarse, exact load.Instant) []*Link {
	if until := min(coarse, exact); until > 0 && !p.anyReady() {
		p.timer.Reset(max(until.Sub(load.Now()), 0))
		select {
		case <-p.wakeups:
		case <-p.timer.C:
		}
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	ready = append(ready, p.ready...)
	p.ready = p.ready[:0]
	return ready
}

func (p *portable) anyReady() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return len(p.ready) > 0
}

func (p *portable) notify(k *Link) {
	p.mutex.Lock()
	p.ready = append(p.ready, k)
	p.mutex.Unlock()
	p.wake()
}

func (p *portable) wake() {
	select {
	case p.wakeups <- struct{}{}:
	default:
	}
}

// exact: Go's timers have a resolution of about a millisecond.
func (p *portable) exact() bool { return false }
func (p *portable) close()      { p.timer.Stop() }

// pipeLen is the most that a pipe buffers in each direction, in bytes.
const pipeLen = 64 << 10

// pipe is a socket of the portable poller, with a read buffer and a write buffer.
type pipe struct {
	poller *portable
	conn   net.Conn
	link   *Link

	mutex   sync.Mutex
	changed sync.Cond
	in, out []byte
	err     error
	closed  bool
	// notifying: the loop wants a notification when it can write.
	notifying bool
}

func (s *pipe) reader() {
	chunk := make([]byte, 16<<10)
	for {
		n, err := s.conn.Read(chunk)
		if !s.arrived(chunk[:n], err) {
			return
		}
	}
}

// arrived waits for room and buffers the bytes read. It returns whether to continue.
func (s *pipe) arrived(b []byte, err error) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for len(s.in) >= pipeLen && !s.closed {
		s.changed.Wait()
	}
	s.in = append(s.in, b...)
	if err != nil && s.err == nil {
		s.err = err
	}
	s.changed.Broadcast()
	s.poller.notify(s.link)
	return s.err == nil && !s.closed
}

func (s *pipe) writer() {
	var chunk []byte
	for {
		chunk = s.toWrite(chunk)
		if chunk == nil {
			_ = s.conn.Close()
			return
		}
		if _, err := s.conn.Write(chunk); err != nil {
			s.arrived(nil, err)
		}
	}
}

// toWrite waits for bytes to write and takes them, in exchange for the last buffer. It returns nil when there is
// nothing more to write.
func (s *pipe) toWrite(spare []byte) []byte {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for len(s.out) == 0 && !s.closed && s.err == nil {
		s.changed.Wait()
	}
	if len(s.out) == 0 || s.err != nil {
		return nil
	}
	chunk := s.out
	s.out = spare[:0]
	if s.notifying {
		s.poller.notify(s.link)
	}
	return chunk
}

func (s *pipe) Read(p []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.in) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		return 0, ErrNotReady
	}
	n := copy(p, s.in)
	s.in = s.in[:copy(s.in, s.in[n:])]
	s.changed.Broadcast()
	return n, nil
}

func (s *pipe) Write(p []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	n := min(len(p), pipeLen-len(s.out))
	if n <= 0 {
		return 0, ErrNotReady
	}
	s.out = append(s.out, p[:n]...)
	s.changed.Broadcast()
	return n, nil
}

func (s *pipe) NotifyWritable(on bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.notifying = on
	// Room may have become free since the loop last tried.
	if on && len(s.out) < pipeLen {
		s.poller.notify(s.link)
	}
}

func (s *pipe) Buffers() bool { return true }
func (s *pipe) Pending() bool { return false }

// Close leaves a second for the written bytes to be sent, as a kernel would.
func (s *pipe) Close() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.closed = true
	s.changed.Broadcast()
	_ = s.conn.SetDeadline(time.Now().Add(time.Second))
}
