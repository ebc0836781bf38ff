package message

import "google.golang.org/protobuf/encoding/protowire"

// DeleteRange deletes a key, or the keys from Key to before End.
type DeleteRange struct{ Key, End []byte }

// Append appends a DeleteRangeRequest.
func (d *DeleteRange) Append(dst []byte) []byte {
	dst = appendBytes(dst, 1, d.Key)
	return appendBytes(dst, 2, d.End)
}

// ReadDeleteRange reads a DeleteRangeResponse.
func (r *Reply) ReadDeleteRange(b []byte) error {
	return r.read(b, func(f field) bool {
		if f.is(2, protowire.VarintType) {
			r.Count = int64(f.varint)
		}
		return true
	})
}
