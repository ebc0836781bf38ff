package message

import "google.golang.org/protobuf/encoding/protowire"

// LeaseGrant requests a lease.
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

// ReadLeaseGrant reads a LeaseGrantResponse.
func (r *Reply) ReadLeaseGrant(b []byte) error {
	return r.read(b, func(f field) bool {
		switch {
		case f.is(2, protowire.VarintType):
			r.Lease = int64(f.varint)
		case f.is(3, protowire.VarintType):
			r.Seconds = int64(f.varint)
		}
		return true
	})
}

// LeaseRevoke ends a lease and deletes its keys.
type LeaseRevoke struct{ ID int64 }

// Append appends a LeaseRevokeRequest.
func (l *LeaseRevoke) Append(dst []byte) []byte { return appendInt(dst, 1, l.ID) }
