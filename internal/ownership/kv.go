package ownership

import "context"

// KV is what every store can do with single keys. A read is not older than the newest write that was answered to this client. A
// write may be repeated after its answer was lost. Then it answers false.
type KV interface {
	// Get returns nil if the key does not exist.
	Get(ctx context.Context, key string) (*Item, error)
	// Create makes a key that does not exist.
	Create(ctx context.Context, key string, value []byte) (created bool, err error)
	// Swap writes a key that has this version.
	Swap(ctx context.Context, key string, value []byte, version int64) (swapped bool, err error)
	// DeleteAll deletes those of these keys that have these versions. all: none of them is left.
	DeleteAll(ctx context.Context, keys ...Key) (all bool, err error)
	// List returns the first keys of a folder after a key, or from its beginning, without their values.
	List(ctx context.Context, folder, after string, most int64) ([]Item, error)
}

// Item is a key, as it was read. Versions grow with each write of any key.
type Item struct {
	Key
	Value []byte
	// Created is the version with which the key was made.
	Created int64
}

// Keyspace says which keys under a prefix are a run's. All of them lie in the folder.
type Keyspace struct {
	Folder string
	// IsOwn reports whether the run can have written a key.
	IsOwn func(name string) bool
}
