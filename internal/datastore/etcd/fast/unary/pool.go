package unary

import "github.com/etcdbench/etcd-benchmark-operator/internal/datastore/wire/buffer"

// Pool holds what connections need only while they have something to write or half
// a message read, so that an idle connection holds none. It belongs to one goroutine,
// like the connections that share it.
type Pool struct {
	*buffer.Pool
	outputs []*output
	// outputBytes is how long they are together.
	outputBytes int
}

// NewPool returns a pool that keeps its buffers among others.
func NewPool(buffers *buffer.Pool) *Pool { return &Pool{Pool: buffers} }

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
