package message

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
