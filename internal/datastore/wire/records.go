package wire

import (
	"encoding/binary"
	"io"
	"net"
)

// Lengths in TLS's record layer, in bytes: of a record's header, and of the
// longest record that a server may send.
const (
	recordHeaderLen = 5
	maxRecordLen    = 16<<10 + 2048
)

// records is what TLS reads from and writes to, a record at a time. During the
// handshake the bytes come from the net.Conn, which blocks, and go there;
// afterwards both are in memory, and reads fail for the moment if there is
// nothing.
type records struct {
	net.Conn
	socket Socket
	// read are those that have been read, and left is how much of the first
	// one TLS has not taken yet.
	read   []byte
	left   int
	unsent []byte
}

// Read implements net.Conn. It never returns more than one record, so that TLS
// has nothing left of another one when it has what it needs.
func (w *records) Read(p []byte) (int, error) {
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

// take reads some of the current record.
func (w *records) take(p []byte) (int, error) {
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

// begin goes on to the next record. During the handshake it waits for its
// header and no longer: TLS knows by that what does not speak TLS.
func (w *records) begin() error {
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

// hasRecord says whether there is a whole record, or one that is too long, which
// is for TLS to refuse.
func (w *records) hasRecord() bool {
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
func (w *records) Write(p []byte) (int, error) {
	if w.socket == nil {
		return w.Conn.Write(p)
	}
	w.unsent = append(w.unsent, p...)
	return len(p), nil
}
