package fast

import "github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/message"

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
