// Package buffer pools the buffers that connections need only for a while, so that an idle connection holds none. It is
// pure and imports the standard library.
package buffer

// KeptBytes is the most that a pool keeps, in bytes over all buffers. So a few long buffers are kept as well as many
// short ones.
const KeptBytes = 8 << 20

// Pool belongs to one goroutine, like the connections that share it.
type Pool struct {
	buffers [][]byte
	bytes   int
}

// Take returns an empty buffer, which may be nil.
func (p *Pool) Take() []byte {
	if n := len(p.buffers); n > 0 {
		b := p.buffers[n-1]
		p.buffers = p.buffers[:n-1]
		p.bytes -= cap(b)
		return b
	}
	return nil
}

// TakeRoom returns an empty buffer with room for this many bytes.
func (p *Pool) TakeRoom(bytes int) []byte {
	if b := p.Take(); cap(b) >= bytes {
		return b
	} else if b != nil {
		p.Give(b)
	}
	return make([]byte, 0, bytes)
}

// Give returns a buffer to the pool. The caller must not use it any more.
func (p *Pool) Give(b []byte) {
	if b != nil && p.bytes+cap(b) <= KeptBytes {
		p.bytes += cap(b)
		p.buffers = append(p.buffers, b[:0])
	}
}
