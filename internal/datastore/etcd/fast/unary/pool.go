package unary

// Pool holds the buffers that connections need only while they have something
// to write or half a message read, so that an idle connection holds none. It
// belongs to one goroutine, like the connections that share it.
type Pool struct {
	outputs []*output
	buffers [][]byte
}

// output is what waits to be written.
type output struct {
	bytes []byte
	// written is how many of the bytes have left.
	written int
	marks   []mark
	// controls counts the answers to the peer's frames among the bytes.
	controls int
}

// mark is where the request of a stream ends in the output.
type mark struct {
	end    int
	stream *Stream
	id     uint32
}

// compact moves what is left to the front once that is the smaller part, so
// that output which never empties does not grow for ever.
func (o *output) compact() {
	if o.written < len(o.bytes)/2 {
		return
	}
	for i := range o.marks {
		o.marks[i].end -= o.written
	}
	o.bytes = o.bytes[:copy(o.bytes, o.bytes[o.written:])]
	o.written = 0
}

// keptOutput and keptBuffer are the largest that go back to the pool, in
// bytes; keptMany is how many.
const (
	keptOutput = 256 << 10
	keptBuffer = 64 << 10
	keptMany   = 64
)

func (p *Pool) takeOutput() *output {
	if n := len(p.outputs); n > 0 {
		o := p.outputs[n-1]
		p.outputs = p.outputs[:n-1]
		return o
	}
	return new(output)
}

func (p *Pool) giveOutput(o *output) {
	if cap(o.bytes) > keptOutput || len(p.outputs) >= keptMany {
		return
	}
	*o = output{bytes: o.bytes[:0], marks: o.marks[:0]}
	p.outputs = append(p.outputs, o)
}

// Take returns an empty buffer.
func (p *Pool) Take() []byte {
	if n := len(p.buffers); n > 0 {
		b := p.buffers[n-1]
		p.buffers = p.buffers[:n-1]
		return b
	}
	return nil
}

// Give takes a buffer that nobody uses any more.
func (p *Pool) Give(b []byte) {
	if b != nil && cap(b) <= keptBuffer && len(p.buffers) < keptMany {
		p.buffers = append(p.buffers, b[:0])
	}
}
