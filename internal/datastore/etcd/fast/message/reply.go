package message

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

var errNested = errors.New("a part of the response is not a protobuf message")

// Reply has the fields of a response that the client needs.
type Reply struct {
	// Member is the member that answered, and Revision its store's revision then.
	Member   uint64
	Revision int64
	// Pairs is how many key-value pairs a Range returned.
	Pairs int
	// ModRevision is the revision of the last modification of the key, after ReadRangeOfOne.
	ModRevision int64
	// Count is how many keys the request covers.
	Count int64
	// More: a Range has left keys out because of its limit.
	More bool
	// Succeeded: the conditions of a Txn held.
	Succeeded bool
	// Lease and Seconds are the ID and the time to live that were granted.
	Lease, Seconds int64
}

// ReadPlain reads only the header of a response. Like all readers it fails if the bytes are not a protobuf message.
func (r *Reply) ReadPlain(b []byte) error { return r.read(b, func(field) bool { return true }) }

// read reads the header, and passes every other field to each.
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

// field is one field of a message. The kind decides whether varint or bytes is set; fields of other kinds have no value
// here.
type field struct {
	number protowire.Number
	kind   protowire.Type
	varint uint64
	bytes  []byte
}

func (f field) is(number protowire.Number, kind protowire.Type) bool {
	return f.number == number && f.kind == kind
}

// scan calls each for every field. If each returns false, the message is malformed.
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

// next reads the first field and returns its length in bytes, below 0 if there is no field.
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
