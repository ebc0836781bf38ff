package fast

import (
	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/message"
)

// PutCall writes a key.
var PutCall = &Call{
	Method: MethodPut, Read: (*message.Reply).ReadPlain,
	Append: func(dst []byte, r *Request) []byte {
		put := message.Put{Key: r.Key, Value: r.Value}
		return put.Append(dst)
	},
}

// DeleteCall deletes a key.
var DeleteCall = &Call{
	Method: MethodDeleteRange, Read: (*message.Reply).ReadDeleteRange, Done: (*Request).Found,
	Append: func(dst []byte, r *Request) []byte {
		deletion := message.DeleteRange{Key: r.Key}
		return deletion.Append(dst)
	},
}

// RangeCall reads a key, or several consecutive keys, in one response.
var RangeCall = &Call{
	Method: MethodRange, Read: (*message.Reply).ReadRange, Done: (*Request).Found,
	Append: func(dst []byte, r *Request) []byte {
		read := message.Range{
			Key: r.Key, End: r.End, Limit: r.Options.Limit,
			Serializable: r.Consistency == spec.Serializable, KeysOnly: r.Options.KeysOnly, CountOnly: r.Options.CountOnly,
		}
		return read.Append(dst)
	},
}

// GrantCall grants a lease.
var GrantCall = &Call{
	Method: MethodLeaseGrant, Read: (*message.Reply).ReadLeaseGrant,
	Append: func(dst []byte, r *Request) []byte {
		grant := message.LeaseGrant{ID: r.Lease, Seconds: r.Options.TTLSeconds}
		return grant.Append(dst)
	},
}

// RevokeCall revokes a lease.
var RevokeCall = &Call{
	Method: MethodLeaseRevoke, Read: (*message.Reply).ReadPlain,
	Append: func(dst []byte, r *Request) []byte {
		revocation := message.LeaseRevoke{ID: r.Lease}
		return revocation.Append(dst)
	},
}
