package wire

import (
	"crypto/tls"
	"errors"
	"slices"
)

// tlsTransport is a socket that speaks TLS over another one. It reads as much as
// there is into a buffer of the loop's and hands TLS one whole record at a time:
// TLS allocates for each read, and keeps what it has read of a record.
type tlsTransport struct {
	Socket
	conn    *tls.Conn
	records *records
	loop    *loop
	// full: the last read has filled its buffer.
	full bool
	// failed is why there will be nothing more to read.
	failed error
}

// sealedLen is how many encrypted bytes are read at once. They always fit, once
// decrypted, into what a loop reads into.
const sealedLen = readBufferLen / 2

// attach moves the connection, whose handshake is over, onto a socket of a loop.
func (t *tlsTransport) attach(s Socket, l *loop) *tlsTransport {
	if l.sealed == nil {
		l.sealed = make([]byte, sealedLen)
	}
	t.Socket, t.loop = s, l
	t.records.socket, t.records.read = s, nil
	return t
}

// read returns what could be decrypted.
func (t *tlsTransport) Read(p []byte) (int, error) {
	for t.failed == nil {
		kept := copy(t.loop.sealed, t.records.read)
		n, err := t.Socket.Read(t.loop.sealed[kept:])
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
	kept := t.records.read
	t.records.read = sealed
	for t.failed == nil && t.records.hasRecord() {
		m, err := t.conn.Read(p[n:])
		n += m
		// A record without data for who reads leaves TLS waiting for the next.
		if err != nil && !errors.Is(err, ErrNotReady) {
			t.failed = err
		}
	}
	t.records.read = t.keep(kept, t.records.read)
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
func (t *tlsTransport) Write(p []byte) (int, error) {
	if err := t.flush(); err != nil {
		return 0, err
	}
	if t.Pending() {
		return 0, ErrNotReady
	}
	if len(p) == 0 {
		return 0, nil
	}
	t.records.unsent = t.loop.pool.Take()
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
	for sent := 0; t.records.unsent != nil; {
		if sent == len(t.records.unsent) {
			t.loop.pool.Give(t.records.unsent)
			t.records.unsent = nil
			return nil
		}
		n, err := t.Socket.Write(t.records.unsent[sent:])
		sent += n
		if err == ErrNotReady {
			t.records.unsent = slices.Delete(t.records.unsent, 0, sent)
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *tlsTransport) Buffers() bool {
	return t.full || t.failed != nil || t.Socket.Buffers()
}

func (t *tlsTransport) Pending() bool { return t.records.unsent != nil }

func (t *tlsTransport) Close() {
	t.records.read = t.keep(t.records.read, nil)
	t.loop.pool.Give(t.records.unsent)
	t.records.unsent = nil
	t.Socket.Close()
}
