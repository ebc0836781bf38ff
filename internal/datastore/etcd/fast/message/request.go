package message

import "google.golang.org/protobuf/encoding/protowire"

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

// A TxnRequest is written part by part: its conditions, then what is done if all
// of them hold. Each part is appended to the request itself, so that a
// transaction of many keys needs no memory of its own.

// Fields of a TxnRequest and of what it is made of.
const (
	txnCompare, txnSuccess = 1, 2
	opPut                  = 2
	// compareMod is the value of field compareTarget that makes etcd look at the
	// revision in field compareRevision.
	compareTarget, compareKey, compareRevision = 2, 3, 6
	compareMod                                 = 2
)

// Unchanged is a condition of a transaction: the last modification of a key was
// the one at Revision.
type Unchanged struct {
	Key      []byte
	Revision int64
}

// AppendIf appends a part of a TxnRequest: a condition.
func (u *Unchanged) AppendIf(dst []byte) []byte {
	dst, start := openNested(dst, txnCompare)
	dst = appendInt(dst, compareTarget, compareMod)
	dst = appendBytes(dst, compareKey, u.Key)
	// One of several fields, so it is written even if it is zero.
	dst = protowire.AppendVarint(protowire.AppendTag(dst, compareRevision, protowire.VarintType), uint64(u.Revision))
	return closeNested(dst, start)
}

// AppendThen appends a part of a TxnRequest: to put if all conditions hold.
func (p *Put) AppendThen(dst []byte) []byte {
	dst, operation := openNested(dst, txnSuccess)
	dst, put := openNested(dst, opPut)
	dst = p.Append(dst)
	return closeNested(closeNested(dst, put), operation)
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

// openNested begins a message in a message, whose content is appended then. start
// is where that lies if its length takes one byte.
func openNested(dst []byte, field protowire.Number) (opened []byte, start int) {
	dst = append(protowire.AppendTag(dst, field, protowire.BytesType), 0)
	return dst, len(dst)
}

// closeNested ends the message that begins at start, and moves it if its length
// takes more than one byte.
func closeNested(dst []byte, start int) []byte {
	length := len(dst) - start
	for range protowire.SizeVarint(uint64(length)) - 1 {
		dst = append(dst, 0)
	}
	copy(dst[len(dst)-length:], dst[start:start+length])
	protowire.AppendVarint(dst[:start-1], uint64(length))
	return dst
}
