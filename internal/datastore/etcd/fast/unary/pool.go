package unary

// Pool holds the buffers that connections need only while they have something
// to write or half a message read, so that an idle connection holds none. It
// belongs to one goroutine, like the connections that share it.
type Pool struct {
	outputs []*output
	buffers [][]byte
	// outputBytes and bufferBytes are how long they are together.
	outputBytes, bufferBytes int
}

// output is what waits to be written.
type output struct {
	bytes []byte
	// written is how many of the bytes have left.
	written int
	// next is where the first frame begins that has not wholly left. It is looked
	// after only while something is left to write.
	next  int
	marks []mark
	// answers counts the answers to the peer's frames from there on.
	answers int
}

// mark is where the request of a stream ends in the output.
type mark struct {
	end    int
	stream *Stream
	id     uint32
}

// compact moves the frames that are left to the front once they are the smaller
// part, so that output which never empties does not grow for ever.
func (o *output) compact() {
	if o.next < len(o.bytes)/2 {
		return
	}
	for i := range o.marks {
		o.marks[i].end -= o.next
	}
	o.bytes = o.bytes[:copy(o.bytes, o.bytes[o.next:])]
	o.written -= o.next
	o.next = 0
}

// keptBytes is the most that a pool keeps of outputs, and of buffers, in bytes.
// It is one bound for all of them, so that a few long ones are kept as well as
// many short ones.
const keptBytes = 8 << 20

func (p *Pool) takeOutput() *output {
	if n := len(p.outputs); n > 0 {
		o := p.outputs[n-1]
		p.outputs = p.outputs[:n-1]
		p.outputBytes -= cap(o.bytes)
		return o
	}
	return new(output)
}

func (p *Pool) giveOutput(o *output) {
	if p.outputBytes+cap(o.bytes) > keptBytes {
		return
	}
	p.outputBytes += cap(o.bytes)
	*o = output{bytes: o.bytes[:0], marks: o.marks[:0]}
	p.outputs = append(p.outputs, o)
}

// Take returns an empty buffer.
func (p *Pool) Take() []byte {
	if n := len(p.buffers); n > 0 {
		b := p.buffers[n-1]
		p.buffers = p.buffers[:n-1]
		p.bufferBytes -= cap(b)
		return b
	}
	return nil
}

// Give takes a buffer that nobody uses any more.
func (p *Pool) Give(b []byte) {
	if b != nil && p.bufferBytes+cap(b) <= keptBytes {
		p.bufferBytes += cap(b)
		p.buffers = append(p.buffers, b[:0])
	}
}
