package fast

import (
	"crypto/tls"
	"errors"
	"slices"
)

// tlsTransport is a socket that speaks TLS over another one. It reads as much as
// there is into a buffer of the loop's and hands TLS one whole record at a time:
// TLS allocates for each read, and keeps what it has read of a record.
type tlsTransport struct {
	socket
	conn *tls.Conn
	wire *wire
	loop *loop
	// full: the last read has filled its buffer.
	full bool
	// failed is why there will be nothing more to read.
	failed error
}

// sealedLen is how many encrypted bytes are read at once. They always fit, once
// decrypted, into what a loop reads into.
const sealedLen = readBufferLen / 2

// attach moves the connection, whose handshake is over, onto a socket of a loop.
func (t *tlsTransport) attach(s socket, l *loop) *tlsTransport {
	if l.sealed == nil {
		l.sealed = make([]byte, sealedLen)
	}
	t.socket, t.loop = s, l
	t.wire.socket, t.wire.records = s, nil
	return t
}

// read returns what could be decrypted.
func (t *tlsTransport) read(p []byte) (int, error) {
	for t.failed == nil {
		kept := copy(t.loop.sealed, t.wire.records)
		n, err := t.socket.read(t.loop.sealed[kept:])
		if err != nil {
			return 0, err
		}
		t.full = kept+n == sealedLen
		n = t.open(p, t.loop.sealed[:kept+n])
		if n > 0 {
			return n, nil
		}
	}
	return 0, t.failed
}

// open decrypts whole records and keeps the rest.
func (t *tlsTransport) open(p, sealed []byte) (n int) {
	kept := t.wire.records
	t.wire.records = sealed
	for t.failed == nil && t.wire.hasRecord() {
		m, err := t.conn.Read(p[n:])
		n += m
		// A record without data for who reads leaves TLS waiting for the next.
		if err != nil && !errors.Is(err, errNotReady) {
			t.failed = err
		}
	}
	t.wire.records = t.keep(kept, t.wire.records)
	return n
}

// keep copies what is left of records into a buffer of its own: the one where
// such bytes were kept before, if there is one.
func (t *tlsTransport) keep(kept, rest []byte) []byte {
	if len(rest) == 0 {
		t.loop.pool.Give(kept)
		return nil
	}
	if kept == nil {
		kept = t.loop.pool.Take()
	}
	return append(kept[:0], rest...)
}

// write encrypts all of p, unless the last write has not left yet.
func (t *tlsTransport) write(p []byte) (int, error) {
	if err := t.flush(); err != nil {
		return 0, err
	}
	if t.pending() {
		return 0, errNotReady
	}
	if len(p) == 0 {
		return 0, nil
	}
	t.wire.unsent = t.loop.pool.Take()
	// A record's worth at a time, so that what waits here stays small.
	n, err := t.conn.Write(p[:min(len(p), maxPlain)])
	if err == nil {
		err = t.flush()
	}
	return n, err
}

// maxPlain is how much is encrypted at once, in bytes.
const maxPlain = 32 << 10

// flush writes what it can of what is encrypted.
func (t *tlsTransport) flush() error {
	for sent := 0; t.wire.unsent != nil; {
		if sent == len(t.wire.unsent) {
			t.loop.pool.Give(t.wire.unsent)
			t.wire.unsent = nil
			return nil
		}
		n, err := t.socket.write(t.wire.unsent[sent:])
		sent += n
		if err == errNotReady {
			t.wire.unsent = slices.Delete(t.wire.unsent, 0, sent)
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *tlsTransport) buffers() bool {
	return t.full || t.failed != nil || t.socket.buffers()
}

func (t *tlsTransport) pending() bool { return t.wire.unsent != nil }

func (t *tlsTransport) close() {
	t.wire.records = t.keep(t.wire.records, nil)
	t.loop.pool.Give(t.wire.unsent)
	t.wire.unsent = nil
	t.socket.close()
}
