package message

import "google.golang.org/protobuf/encoding/protowire"

// Range reads a key, or the keys from Key to before End.
type Range struct {
	Key, End []byte
	// Limit is the most keys to return; 0 is no limit.
	Limit int64
	// Revision of the store to read; 0 is the latest.
	Revision int64
	// Serializable lets the contacted member answer alone.
	Serializable bool
	KeysOnly     bool
	CountOnly    bool
}

// Append appends a RangeRequest.
func (r *Range) Append(dst []byte) []byte {
	dst = appendBytes(dst, 1, r.Key)
	dst = appendBytes(dst, 2, r.End)
	dst = appendInt(dst, 3, r.Limit)
	dst = appendInt(dst, 4, r.Revision)
	dst = appendBool(dst, 7, r.Serializable)
	dst = appendBool(dst, 8, r.KeysOnly)
	return appendBool(dst, 9, r.CountOnly)
}

// ReadRange reads a RangeResponse.
func (r *Reply) ReadRange(b []byte) error {
	return r.read(b, func(f field) bool { return r.setRange(f) })
}

// ReadRangeOfOne reads a RangeResponse of one key, and its ModRevision.
func (r *Reply) ReadRangeOfOne(b []byte) error {
	return r.read(b, func(f field) bool {
		if f.is(2, protowire.BytesType) && r.readPair(f.bytes) != nil {
			return false
		}
		return r.setRange(f)
	})
}

func (r *Reply) readPair(b []byte) error {
	r.ModRevision = 0
	return scan(b, func(f field) bool {
		if f.is(3, protowire.VarintType) {
			r.ModRevision = int64(f.varint)
		}
		return true
	})
}

func (r *Reply) setRange(f field) bool {
	switch {
	case f.is(2, protowire.BytesType):
		r.Pairs++
	case f.is(3, protowire.VarintType):
		r.More = protowire.DecodeBool(f.varint)
	case f.is(4, protowire.VarintType):
		r.Count = int64(f.varint)
	}
	return true
}

// Put writes a key.
type Put struct {
	Key, Value []byte
	// Lease to which the key is attached; 0 is none.
	Lease int64
}

// Append appends a PutRequest.
func (p *Put) Append(dst []byte) []byte {
	dst = appendBytes(dst, 1, p.Key)
	dst = appendBytes(dst, 2, p.Value)
	return appendInt(dst, 3, p.Lease)
}

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
