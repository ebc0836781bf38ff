package message

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Range asks for a key, or for the keys from Key to before End.
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

// Put writes a key.
type Put struct {
	Key, Value []byte
	// Lease that the key goes with; 0 is none.
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

// Comparison is the relation that a Compare wants.
type Comparison int64

// The relations.
const (
	Equal Comparison = iota
	Greater
	Less
	NotEqual
)

// Subject is the property of a key that a Compare looks at.
type Subject int64

// The subjects.
const (
	Version Subject = iota
	CreateRevision
	ModRevision
	Value
	Lease
)

// Compare is a condition of a transaction, on a key or on all keys from Key to
// before End.
type Compare struct {
	Key, End   []byte
	Comparison Comparison
	Subject    Subject
	// Number is compared with; Bytes if the subject is Value.
	Number int64
	Bytes  []byte
}

func (c *Compare) append(dst []byte) []byte {
	dst = appendInt(dst, 1, int64(c.Comparison))
	dst = appendInt(dst, 2, int64(c.Subject))
	dst = appendBytes(dst, 3, c.Key)
	// The wanted property is one of five fields, written even if zero.
	switch c.Subject {
	case Version, CreateRevision, ModRevision:
		dst = protowire.AppendVarint(protowire.AppendTag(dst, 4+protowire.Number(c.Subject), protowire.VarintType), uint64(c.Number))
	case Value:
		dst = protowire.AppendBytes(protowire.AppendTag(dst, 7, protowire.BytesType), c.Bytes)
	case Lease:
		dst = protowire.AppendVarint(protowire.AppendTag(dst, 8, protowire.VarintType), uint64(c.Number))
	}
	return appendBytes(dst, 64, c.End)
}

// Op is a request inside a transaction: a *Range, a *Put or a *DeleteRange.
type Op interface{ Append(dst []byte) []byte }

// Txn does Then if all conditions hold, else Else.
type Txn struct {
	If         []Compare
	Then, Else []Op
}

// Append appends a TxnRequest.
func (t *Txn) Append(dst []byte) []byte {
	for i := range t.If {
		dst = appendNested(dst, 1, t.If[i].append)
	}
	for _, op := range t.Then {
		dst = appendOp(dst, 2, op)
	}
	for _, op := range t.Else {
		dst = appendOp(dst, 3, op)
	}
	return dst
}

func appendOp(dst []byte, field protowire.Number, op Op) []byte {
	return appendNested(dst, field, func(dst []byte) []byte {
		switch op := op.(type) {
		case *Range:
			return appendNested(dst, 1, op.Append)
		case *Put:
			return appendNested(dst, 2, op.Append)
		}
		return appendNested(dst, 3, op.Append)
	})
}

// LeaseGrant asks for a lease.
type LeaseGrant struct {
	// Seconds is the time to live.
	Seconds int64
	// ID wanted; 0 lets the server choose.
	ID int64
}

// Append appends a LeaseGrantRequest.
func (l *LeaseGrant) Append(dst []byte) []byte {
	return appendInt(appendInt(dst, 1, l.Seconds), 2, l.ID)
}

// LeaseRevoke ends a lease and deletes its keys.
type LeaseRevoke struct{ ID int64 }

// Append appends a LeaseRevokeRequest.
func (l *LeaseRevoke) Append(dst []byte) []byte { return appendInt(dst, 1, l.ID) }

func appendBytes(dst []byte, field protowire.Number, value []byte) []byte {
	if len(value) == 0 {
		return dst
	}
	return protowire.AppendBytes(protowire.AppendTag(dst, field, protowire.BytesType), value)
}

func appendInt(dst []byte, field protowire.Number, value int64) []byte {
	if value == 0 {
		return dst
	}
	return protowire.AppendVarint(protowire.AppendTag(dst, field, protowire.VarintType), uint64(value))
}

func appendBool(dst []byte, field protowire.Number, value bool) []byte {
	return appendInt(dst, field, int64(protowire.EncodeBool(value)))
}

// appendNested appends a message in a message: first where it will lie if its
// length takes one byte, then moved if it takes more.
func appendNested(dst []byte, field protowire.Number, message func([]byte) []byte) []byte {
	dst = append(protowire.AppendTag(dst, field, protowire.BytesType), 0)
	start := len(dst)
	dst = message(dst)
	length := protowire.AppendVarint(nil, uint64(len(dst)-start))
	return slices.Replace(dst, start-1, start, length...)
}
