package unary

import "github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/eventloop/buffer"

// Pool holds buffers that connections need only while they have output or an incomplete message, so that an idle
// connection holds none. It belongs to one goroutine, like the connections that share it.
type Pool struct {
	*buffer.Pool
	outputs []*output
	// outputBytes is the total length of outputs.
	outputBytes int
}

// NewPool returns a pool that uses these buffers.
func NewPool(buffers *buffer.Pool) *Pool { return &Pool{Pool: buffers} }

// output is the bytes to be written.
type output struct {
	bytes []byte
	// written is how many of the bytes are written.
	written int
	// next is where the first frame begins that is not completely written. It is updated only while output is left.
	next  int
	marks []mark
	// acks counts the acknowledgements from next on.
	acks int
}

// mark is where the request of a stream ends in the output.
type mark struct {
	end    int
	stream *Stream
	id     uint32
}

// compact moves the remaining frames to the front once they are less than half, so that output that is never empty does
// not grow without limit.
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
	if p.outputBytes+cap(o.bytes) > buffer.KeptBytes {
		return
	}
	p.outputBytes += cap(o.bytes)
	*o = output{bytes: o.bytes[:0], marks: o.marks[:0]}
	p.outputs = append(p.outputs, o)
}
