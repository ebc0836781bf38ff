package fast

import (
	"crypto/tls"
	"net"
	"slices"
)

// tlsTransport is a socket that speaks TLS over another one.
type tlsTransport struct {
	socket
	conn *tls.Conn
	wire *wire
}

// attach moves the connection, whose handshake is over, onto a socket.
func (t *tlsTransport) attach(s socket) *tlsTransport {
	t.socket, t.wire.socket = s, s
	return t
}

// read returns what has been decrypted: of as many records as fit into p.
func (t *tlsTransport) read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		m, err := t.conn.Read(p[n:])
		n += m
		if err == nil {
			continue
		}
		// The next read meets the error again.
		if n > 0 {
			break
		}
		return 0, err
	}
	return n, nil
}

// write encrypts all of p, unless the last write has not left yet.
func (t *tlsTransport) write(p []byte) (int, error) {
	if err := t.wire.flush(); err != nil {
		return 0, err
	}
	if len(t.wire.unsent) > 0 {
		return 0, errNotReady
	}
	// A record's worth at a time, so that what waits here stays small.
	n, err := t.conn.Write(p[:min(len(p), maxPlain)])
	if err == nil {
		err = t.wire.flush()
	}
	return n, err
}

// maxPlain is how much is encrypted at once, in bytes.
const maxPlain = 64 << 10

func (t *tlsTransport) buffers() bool { return true }
func (t *tlsTransport) pending() bool { return len(t.wire.unsent) > 0 }

// wire is what TLS reads from and writes to. During the handshake it is the
// net.Conn; afterwards the socket, which does not block: reads fail for the
// moment, and writes go into memory.
type wire struct {
	net.Conn
	socket socket
	unsent []byte
}

// Read implements net.Conn.
func (w *wire) Read(p []byte) (int, error) {
	if w.socket == nil {
		return w.Conn.Read(p)
	}
	return w.socket.read(p)
}

// Write implements net.Conn.
func (w *wire) Write(p []byte) (int, error) {
	if w.socket == nil {
		return w.Conn.Write(p)
	}
	w.unsent = append(w.unsent, p...)
	return len(p), nil
}

// flush writes what it can.
func (w *wire) flush() error {
	for sent := 0; ; {
		if sent == len(w.unsent) {
			w.unsent = nil
			return nil
		}
		n, err := w.socket.write(w.unsent[sent:])
		sent += n
		if err == errNotReady {
			w.unsent = slices.Delete(w.unsent, 0, sent)
			return nil
		}
		if err != nil {
			return err
		}
	}
}
