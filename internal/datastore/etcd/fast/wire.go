package fast

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

// wire is what TLS reads from and writes to, a record at a time. During the
// handshake the bytes come from the net.Conn, which blocks, and go there;
// afterwards both are in memory, and reads fail for the moment if there is
// nothing.
type wire struct {
	net.Conn
	socket socket
	// records are those that have been read, and left is how much of the first
	// one TLS has not taken yet.
	records []byte
	left    int
	unsent  []byte
}

// Read implements net.Conn. It never returns more than one record, so that TLS
// has nothing left of another one when it has what it needs.
func (w *wire) Read(p []byte) (int, error) {
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
func (w *wire) take(p []byte) (int, error) {
	switch {
	case len(w.records) > 0:
		n := copy(p, w.records)
		w.records = w.records[n:]
		return n, nil
	case w.socket == nil:
		return w.Conn.Read(p)
	default:
		return 0, errNotReady
	}
}

// begin goes on to the next record. During the handshake it waits for its
// header and no longer: TLS knows by that what does not speak TLS.
func (w *wire) begin() error {
	if w.socket != nil {
		if !w.hasRecord() {
			return errNotReady
		}
		w.left = recordLen(w.records)
		return nil
	}
	w.records = make([]byte, recordHeaderLen)
	if _, err := io.ReadFull(w.Conn, w.records); err != nil {
		return err
	}
	w.left = recordLen(w.records)
	return nil
}

// hasRecord says whether there is a whole record, or one that is too long, which
// is for TLS to refuse.
func (w *wire) hasRecord() bool {
	if len(w.records) < recordHeaderLen {
		return false
	}
	n := recordLen(w.records)
	return n <= len(w.records) || n > recordHeaderLen+maxRecordLen
}

// recordLen is the length of a record with this header.
func recordLen(header []byte) int {
	return recordHeaderLen + int(binary.BigEndian.Uint16(header[3:]))
}

// Write implements net.Conn.
func (w *wire) Write(p []byte) (int, error) {
	if w.socket == nil {
		return w.Conn.Write(p)
	}
	w.unsent = append(w.unsent, p...)
	return len(p), nil
}
