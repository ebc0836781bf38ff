package eventloop

import (
	"encoding/binary"
	"io"
	"net"
)

// Lengths in TLS's record layer, in bytes: of a record's header, and of the longest record that a server may send.
const (
	recordHeaderLen = 5
	maxRecordLen    = 16<<10 + 2048
)

// recordConn is the net.Conn below TLS. It passes one record at a time. During the handshake it reads from and writes
// to the blocking net.Conn. After it, both directions are buffers in memory, and a read of an empty buffer fails with
// ErrNotReady.
type recordConn struct {
	net.Conn
	socket Socket
	// read are the bytes read from the socket. left is how much of the first record TLS has not taken yet.
	read   []byte
	left   int
	unsent []byte
}

// Read implements net.Conn. It never returns bytes of two records, so that TLS buffers no part of a later one.
func (w *recordConn) Read(p []byte) (int, error) {
	if w.left == 0 {
		if err := w.begin(); err != nil {
			return 0, err
		}
	}
	p = p[:min(len(p), w.left)]
	n, err := w.take(p)
	w.left -= n
	return n, err
}

// take reads a part of the current record.
func (w *recordConn) take(p []byte) (int, error) {
	switch {
	case len(w.read) > 0:
		n := copy(p, w.read)
		w.read = w.read[n:]
		return n, nil
	case w.socket == nil:
		return w.Conn.Read(p)
	default:
		return 0, ErrNotReady
	}
}

// begin starts the next record. During the handshake it waits for the header only: a wrong header shows TLS that the
// peer does not speak TLS.
func (w *recordConn) begin() error {
	if w.socket != nil {
		if !w.hasRecord() {
			return ErrNotReady
		}
		w.left = recordLen(w.read)
		return nil
	}
	w.read = make([]byte, recordHeaderLen)
	if _, err := io.ReadFull(w.Conn, w.read); err != nil {
		return err
	}
	w.left = recordLen(w.read)
	return nil
}

// hasRecord returns whether there is a whole record. It also returns true for one that is too long, so that TLS refuses
// it.
func (w *recordConn) hasRecord() bool {
	if len(w.read) < recordHeaderLen {
		return false
	}
	n := recordLen(w.read)
	return n <= len(w.read) || n > recordHeaderLen+maxRecordLen
}

// recordLen is the length of a record with this header.
func recordLen(header []byte) int {
	return recordHeaderLen + int(binary.BigEndian.Uint16(header[3:]))
}

// Write implements net.Conn.
func (w *recordConn) Write(p []byte) (int, error) {
	if w.socket == nil {
		return w.Conn.Write(p)
	}
	w.unsent = append(w.unsent, p...)
	return len(p), nil
}
