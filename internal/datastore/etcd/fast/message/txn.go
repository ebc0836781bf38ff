package message

import "google.golang.org/protobuf/encoding/protowire"

// A TxnRequest is written in parts: its conditions, then the operations if all conditions hold. Each part is appended
// to the request itself, so that a transaction of many keys allocates nothing.

// Fields of a TxnRequest and of its parts.
const (
	txnCompare, txnSuccess = 1, 2
	opPut                  = 2
	// compareMod is the value of field compareTarget that makes etcd compare the revision in field compareRevision.
	compareTarget, compareKey, compareRevision = 2, 3, 6
	compareMod                                 = 2
)

// Unchanged is a condition of a transaction: the last modification of a key was at Revision.
type Unchanged struct {
	Key      []byte
	Revision int64
}

// AppendIf appends a condition to a TxnRequest.
func (u *Unchanged) AppendIf(dst []byte) []byte {
	dst, start := openNested(dst, txnCompare)
	dst = appendInt(dst, compareTarget, compareMod)
	dst = appendBytes(dst, compareKey, u.Key)
	// The field belongs to a oneof, so it is written even if it is zero.
	dst = protowire.AppendVarint(protowire.AppendTag(dst, compareRevision, protowire.VarintType), uint64(u.Revision))
	return closeNested(dst, start)
}

// AppendThen appends a put to a TxnRequest, for the case that all conditions hold.
func (p *Put) AppendThen(dst []byte) []byte {
	dst, operation := openNested(dst, txnSuccess)
	dst, put := openNested(dst, opPut)
	dst = p.Append(dst)
	return closeNested(closeNested(dst, put), operation)
}

// ReadTxn reads a TxnResponse.
func (r *Reply) ReadTxn(b []byte) error {
	return r.read(b, func(f field) bool {
		if f.is(2, protowire.VarintType) {
			r.Succeeded = protowire.DecodeBool(f.varint)
		}
		return true
	})
}
