package etcd

import (
	"io"
	"net"
	"sync"
	"testing"
)

// link forwards connections to an address, until it is cut.
type link struct {
	listener net.Listener
	mutex    sync.Mutex
	isCut    bool
	open     []net.Conn
	// refused has an entry for each connection that was refused while the link was cut.
	refused chan struct{}
}

// newLink returns a link to an address; it ends with the test.
func newLink(t *testing.T, to string) *link {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &link{listener: listener, refused: make(chan struct{}, 1000)}
	t.Cleanup(func() { _ = listener.Close(); l.cut() })
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			l.forward(from, to)
		}
	}()
	return l
}

func (l *link) address() string { return l.listener.Addr().String() }

func (l *link) forward(from net.Conn, to string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	target, err := net.Dial("tcp", to)
	if err != nil || l.isCut {
		_ = from.Close()
		select {
		case l.refused <- struct{}{}:
		default:
		}
	}
	if err != nil {
		return
	}
	l.open = append(l.open, from, target)
	go func() { _, _ = io.Copy(from, target); _ = from.Close() }()
	go func() { _, _ = io.Copy(target, from); _ = target.Close() }()
}

// cut ends all connections and refuses new ones.
func (l *link) cut() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.isCut = true
	for _, c := range l.open {
		_ = c.Close()
	}
	l.open = nil
}

func (l *link) mend() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.isCut = false
}
