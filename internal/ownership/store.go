package ownership

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"
)

// Run is a run, or a pod of it, that owns a prefix or wants to.
type Run struct {
	// Prefix ends with a slash.
	Prefix, UID string
	// Pod is the index of the pod.
	Pod int
	// Things is about how many keys and leases the last pod deletes, each as costly as one in etcd.
	Things int64
	// RequestTimeoutSeconds is how long a request of the load can be in flight.
	RequestTimeoutSeconds int32

	began atomic.Pointer[time.Time]
}

// MarkerOf is the key that names the owner of a prefix, in stores whose keys form one order.
func MarkerOf(prefix string) string { return prefix + ".owner" }

// Marker is the key that names the run.
func (r *Run) Marker() string { return MarkerOf(r.Prefix) }

// PodsFolder has the keys of the pods that may write, under the prefix.
const PodsFolder = ".pod/"

// PodKey is the key of this pod. It exists while the pod may write, and has its newest sign of life.
func (r *Run) PodKey() string { return fmt.Sprintf("%s%s%06d", r.Prefix, PodsFolder, r.Pod) }

// PodsOf is the range of the pods' keys under a prefix, without to: they are numbers, and ':' follows '9'.
func PodsOf(prefix string) (from, to string) {
	return prefix + PodsFolder + "0", prefix + PodsFolder + ":"
}

// IsPod reports whether a key under a prefix is a pod's.
func IsPod(prefix, key string) bool {
	from, to := PodsOf(prefix)
	return from <= key && key < to
}

// LifeSign is the content of a pod's key, as JSON. The times are those of the pod's clock.
type LifeSign struct {
	Began time.Time `json:"began"`
	Seen  time.Time `json:"seen"`
	// RequestTimeoutSeconds is how long a request of the pod can be in flight.
	RequestTimeoutSeconds int32 `json:"requestTimeoutSeconds"`
}

// LifeSign returns a new sign of life of this pod.
func (r *Run) LifeSign() []byte {
	now := time.Now().UTC().Truncate(time.Second)
	r.began.CompareAndSwap(nil, &now)
	data, _ := json.Marshal(LifeSign{Began: *r.began.Load(), Seen: now, RequestTimeoutSeconds: r.RequestTimeoutSeconds})
	return data
}

// Outer returns the prefixes around a prefix, the shortest first. A plan has fewer of them than a transaction may have
// comparisons.
func Outer(prefix string) (outer []string) {
	for i := range len(prefix) - 1 {
		if prefix[i] == '/' {
			outer = append(outer, prefix[:i+1])
		}
	}
	return outer
}

// Store is what a store can do with the claim of one run on one prefix. Each method may be repeated after its answer was lost,
// and may end after a part of its requests. Reads are not older than the newest write that was answered to this client. The
// version of a key may return after the key was deleted and made again.
type Store interface {
	// Marker names the marker, for people.
	Marker() string
	// Prepare is called before a claim, and fails if something outside the prefix forbids it.
	Prepare(ctx context.Context) error
	// Owner returns who owns a prefix, this run's or one around it.
	Owner(ctx context.Context, prefix string) (Owner, error)
	// Claim makes the run the owner and returns true, if nothing lies under its prefix, and nothing has come to the outer
	// prefixes that were absent. It may register the pod, too, or wait for the pod that claims.
	Claim(ctx context.Context, absent []string) (won bool, err error)
	// Join registers this pod, if the run owns the prefix.
	Join(ctx context.Context) (joined bool, err error)
	// Sign renews the sign of life of this pod, if it is registered and the run owns the prefix.
	Sign(ctx context.Context) (done bool, err error)
	// Signs returns the version of each registered pod's key, by its key. These versions never return.
	Signs(ctx context.Context) (map[string]int64, error)
	// Leave ends the registration of this pod.
	Leave(ctx context.Context) (Release, error)
	// GiveUp ends the registrations of all pods, if they have these signs. Then no pod can sign or join.
	GiveUp(ctx context.Context, signs map[string]int64) (Release, error)
	// State returns whether the run owns the prefix, and how many of its pods are registered.
	State(ctx context.Context) (owned bool, writers int64, err error)
	// Remains describes what is left of a run that does not own its prefix any more; empty if nothing is.
	Remains(ctx context.Context) (what string, err error)
	// Foreign describes what lies under the prefix, beside what this package makes.
	Foreign(ctx context.Context) (what string, err error)
	// Walk returns the keys of the run that exist, or may.
	Walk() Walker
	// Reread returns what exists now of a batch that could not be deleted, and is not newer than the release.
	Reread(ctx context.Context, s Batch, released int64) ([]Batch, error)
	// Delete deletes a batch if the run owns the prefix, no pod is registered, and none of its keys has changed or is newer
	// than the release. Otherwise it returns false, and has deleted nothing.
	Delete(ctx context.Context, s Batch, released int64) (done bool, err error)
	// Abandon ends the ownership, if none of the run's keys is left and no pod is registered.
	Abandon(ctx context.Context, released int64) (done bool, err error)
	// IsTooLarge reports whether the store refused a request because of its size.
	IsTooLarge(error) bool
	// Settle is the error that a method of Ownership returns.
	Settle(context.Context, error) error
}

// Revoker is a Store with leases of the run, which are revoked before the keys are deleted.
type Revoker interface {
	// Revoke revokes the run's leases. It calls check before each block of them, and stops at its error.
	Revoke(ctx context.Context, check func(context.Context) error) (revoked int64, err error)
}

// Announcer is a Store that tells the pods that wait for the last one that it has left keys of others.
type Announcer interface{ Announce(context.Context) error }

// Owner is who owns a prefix.
type Owner struct {
	// Owned: there is a marker. UID is what it names.
	Owned bool
	UID   string
	// Absent: there is no marker, and none can come without being noticed by Claim.
	Absent bool
}

// Release is what is known after registrations have ended.
type Release struct {
	// Owned: the run owned the prefix.
	Owned bool
	// Alone: no pod is registered, and this caller deletes the keys of all.
	Alone bool
	// Revision is that from which on no pod could write; 0 if the store has no such revision.
	Revision int64
}

// Key is a key of the run. Version is 0 if it was not read: then the key may be missing.
type Key struct {
	Name    string
	Version int64
}

// Batch is a number of keys, in their order.
type Batch struct {
	Keys []Key
	// Alone: when the keys were read, no other key lay between the first and the last one.
	Alone bool
}

// Walker walks over the keys of a run, from the first to the last.
type Walker interface {
	// Next returns the next keys, at most about a thousand, none of them newer than the release; none if there are none where
	// it looked. Its batches may be deleted at the same time. done: these were the last. If Next has found that the run does
	// not own the prefix, or that a pod is registered, the error is ErrNotAlone.
	Next(ctx context.Context, released int64) (page []Batch, done bool, err error)
	// Passed counts the numbers of keys, or the keys, that Next has passed, of how many; zero if that is not known.
	Passed() (passed, of int64)
	// Spared counts the keys of others that Next has met.
	Spared() int64
}
