package message

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

var errNested = errors.New("a part of the response is not a protobuf message")

// Reply is what matters of a response.
type Reply struct {
	// Member that answered, and the Revision of its store then.
	Member   uint64
	Revision int64
	// Pairs is how many key-value pairs a Range returned.
	Pairs int
	// ModRevision is, of a range of one, when the last key that it found was
	// modified for the last time.
	ModRevision int64
	// Count is how many keys a Range covers, or a DeleteRange deleted.
	Count int64
	// More: a Range has left keys out because of its limit.
	More bool
	// Succeeded: the conditions of a Txn held.
	Succeeded bool
	// Lease and Seconds are the ID and the time to live that were granted.
	Lease, Seconds int64
}

// ReadPlain reads an answer of which nothing but its header matters. Like all
// readers it fails if the bytes are not a protobuf message.
func (r *Reply) ReadPlain(b []byte) error { return r.read(b, func(field) bool { return true }) }

// read reads the header, and hands every other field over.
func (r *Reply) read(b []byte, each func(field) bool) error {
	*r = Reply{}
	return scan(b, func(f field) bool {
		if f.is(1, protowire.BytesType) {
			return r.readHeader(f.bytes) == nil
		}
		return each(f)
	})
}

func (r *Reply) readHeader(b []byte) error {
	return scan(b, func(f field) bool {
		switch {
		case f.kind != protowire.VarintType:
		case f.number == 2:
			r.Member = f.varint
		case f.number == 3:
			r.Revision = int64(f.varint)
		}
		return true
	})
}

// field is one field of a message. Which of varint and bytes is set depends on
// its kind; other kinds have no value here.
type field struct {
	number protowire.Number
	kind   protowire.Type
	varint uint64
	bytes  []byte
}

func (f field) is(number protowire.Number, kind protowire.Type) bool {
	return f.number == number && f.kind == kind
}

// scan calls each for every field until it returns false, which makes the
// message malformed.
func scan(b []byte, each func(field) bool) error {
	for len(b) > 0 {
		f, n := next(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		if !each(f) {
			return errNested
		}
		b = b[n:]
	}
	return nil
}

// next reads the first field and returns the number of its bytes, below 0 if
// there is no field.
func next(b []byte) (field, int) {
	number, kind, tag := protowire.ConsumeTag(b)
	if tag < 0 {
		return field{}, tag
	}
	f := field{number: number, kind: kind}
	var n int
	switch kind {
	case protowire.VarintType:
		f.varint, n = protowire.ConsumeVarint(b[tag:])
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(b[tag:])
	default:
		n = protowire.ConsumeFieldValue(number, kind, b[tag:])
	}
	if n < 0 {
		return f, n
	}
	return f, tag + n
}
