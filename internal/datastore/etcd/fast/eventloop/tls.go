package eventloop

import (
	"crypto/tls"
	"errors"
	"slices"
)

// tlsTransport is a socket that speaks TLS over another one. It reads all available bytes into a buffer of the loop and
// gives TLS one whole record at a time. Otherwise TLS would allocate for each read and buffer incomplete records
// itself.
type tlsTransport struct {
	Socket
	conn    *tls.Conn
	records *recordConn
	loop    *loop
	// full: the last read has filled its buffer.
	full bool
	// failed is the error that ended reading.
	failed error
}

// ciphertextLen is how many encrypted bytes are read at once. Decrypted, they always fit into the loop's read buffer.
const ciphertextLen = readBufferLen / 2

// attach moves the connection to a socket of a loop, after its handshake.
func (t *tlsTransport) attach(s Socket, l *loop) *tlsTransport {
	if l.ciphertext == nil {
		l.ciphertext = make([]byte, ciphertextLen)
	}
	t.Socket, t.loop = s, l
	t.records.socket, t.records.read = s, nil
	return t
}

// Read returns decrypted bytes.
func (t *tlsTransport) Read(p []byte) (int, error) {
	for t.failed == nil {
		kept := copy(t.loop.ciphertext, t.records.read)
		n, err := t.Socket.Read(t.loop.ciphertext[kept:])
		if err != nil {
			return 0, err
		}
		t.full = kept+n == ciphertextLen
		n = t.decrypt(p, t.loop.ciphertext[:kept+n])
		if n > 0 {
			return n, nil
		}
	}
	return 0, t.failed
}

// decrypt decrypts whole records and keeps the rest.
func (t *tlsTransport) decrypt(p, ciphertext []byte) (n int) {
	kept := t.records.read
	t.records.read = ciphertext
	for t.failed == nil && t.records.hasRecord() {
		m, err := t.conn.Read(p[n:])
		n += m
		// A record without application data makes TLS ask for the next record.
		if err != nil && !errors.Is(err, ErrNotReady) {
			t.failed = err
		}
	}
	t.records.read = t.keep(kept, t.records.read)
	return n
}

// keep copies incomplete records into a buffer of their own: the existing one, if there is one.
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

// Write encrypts and writes p, unless the last write is still pending.
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
	// A few records at a time, so that the pending bytes stay few.
	n, err := t.conn.Write(p[:min(len(p), maxPlain)])
	if err == nil {
		err = t.flush()
	}
	return n, err
}

// maxPlain is how much is encrypted at once, in bytes.
const maxPlain = 32 << 10

// flush writes as many encrypted bytes as it can.
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
