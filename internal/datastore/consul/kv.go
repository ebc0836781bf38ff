package consul

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/http1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
)

// kv is ownership.KV and ownership.Deleter for Consul.
type kv struct{ *Driver }

// entry is a key as Consul returns it.
type entry struct {
	Key                      string
	Value                    []byte
	Session                  string
	CreateIndex, ModifyIndex int64
}

// entries returns the keys of a path.
func (k kv) entries(ctx context.Context, path string) (found []entry, err error) {
	err = k.read(ctx, get(spec.RPCKVGet, path), &found)
	return found, err
}

func (k kv) Get(ctx context.Context, key string) (*ownership.Item, error) {
	found, err := k.entries(ctx, pathOf(key)+"?consistent")
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return new(itemOf(found[0])), nil
}

func itemOf(e entry) ownership.Item {
	return ownership.Item{Key: ownership.Key{Name: e.Key, Version: e.ModifyIndex}, Value: e.Value, Created: e.CreateIndex}
}

// List returns only keys of pods with their versions: with the others, Consul would send their values. There are no pages.
func (k kv) List(ctx context.Context, folder, after string, _ int64) (items []ownership.Item, err error) {
	switch {
	case after != "":
	case strings.HasSuffix(folder, ownership.PodsFolder):
		var found []entry
		found, err = k.entries(ctx, pathOf(folder)+"?recurse&consistent")
		for _, e := range found {
			items = append(items, itemOf(e))
		}
	default:
		var names []string
		names, err = k.names(ctx, folder, true, itsStart)
		for _, name := range names {
			items = append(items, ownership.Item{Key: ownership.Key{Name: name}})
		}
	}
	return items, err
}

// change sends a request that is answered by true or false.
func (k kv) change(ctx context.Context, r http1.Request) (done bool, err error) {
	body, _, err := k.ask(ctx, r, everything)
	return err == nil && isTrue(body), err
}

func (k kv) Create(ctx context.Context, key string, value []byte) (created bool, err error) {
	return k.change(ctx, put(spec.RPCKVPut, pathOf(key)+"?cas=0", value))
}

// Swap changes the flags each time: a put that changes nothing would not change the index.
func (k kv) Swap(ctx context.Context, key string, value []byte, version int64) (swapped bool, err error) {
	return k.change(ctx, put(spec.RPCKVPut, fmt.Sprintf("%s?cas=%d&flags=%[2]d", pathOf(key), version), value))
}

func (k kv) DeleteAll(ctx context.Context, keys ...ownership.Key) (all bool, err error) {
	all = true
	for _, key := range keys {
		gone, err := k.change(ctx, remove(fmt.Sprintf("%s?cas=%d", pathOf(key.Name), key.Version)))
		if err != nil {
			return false, err
		}
		all = all && gone
	}
	return all, nil
}

// step is one operation of a transaction.
type step struct {
	Verb, Key string
	Index     int64 `json:",omitempty"`
}

func (k kv) DeleteIf(ctx context.Context, guard ownership.Key, keys []ownership.Key) (done bool, err error) {
	steps := []map[string]step{{"KV": {"check-index", guard.Name, guard.Version}}}
	for _, key := range keys {
		steps = append(steps, map[string]step{"KV": {Verb: "delete", Key: key.Name}})
	}
	body, err := json.Marshal(steps)
	if err != nil {
		return false, err
	}
	_, _, err = k.ask(ctx, put(spec.RPCTxn, txnPath, body), everything)
	if r, refused := errors.AsType[*refusal](err); refused && r.status == http.StatusConflict && !isDenied(err) {
		var failed struct{ Errors []struct{ OpIndex int } }
		if json.Unmarshal([]byte(r.reason), &failed) == nil && len(failed.Errors) > 0 && failed.Errors[0].OpIndex == 0 {
			return false, nil
		}
	}
	return err == nil, err
}

// Settle implements ownership.LockStore and ownership.Searcher.
func (k kv) Settle(ctx context.Context, err error) error {
	return remote.Settled(ctx, err, k.explain, k.addresses.String())
}

func (kv) IsTooLarge(err error) bool { return err != nil && kindOf(err).code == codeTooLarge }

// targetLock is ownership.LockStore for Consul: a key that a session holds, and that goes with the session. Each pod renews
// the session. Consul ends a session that was not renewed for twice its TTL, which is load.LockTTL here; after a change of its
// leader it waits for that long again. There is no lock delay: as on other stores, a run that was overtaken learns that from
// its next renewal.
type targetLock struct {
	kv
	// session is the one that held the lock when it was last seen.
	session string
}

var lockSession = create(newSession("etcdbench lock", load.LockTTL/2))

// orNoLock: the token may not use the key or sessions.
func orNoLock(err error) error {
	if isDenied(err) {
		return ownership.ErrNoLock
	}
	return err
}

func (l *targetLock) SeeLock(ctx context.Context) (seen ownership.LockSeen, err error) {
	found, err := l.entries(ctx, pathOf(ownership.LockKey)+"?consistent")
	if err != nil || len(found) == 0 || found[0].Session == "" {
		return seen, orNoLock(err)
	}
	l.session = found[0].Session
	return ownership.LockSeen{Exists: true, Content: found[0].Value}, nil
}

// MakeLock leaves a session that gets no lock to expire.
func (l *targetLock) MakeLock(ctx context.Context, content []byte) (made bool, err error) {
	var holder session
	if err = l.read(ctx, lockSession, &holder); err == nil {
		made, err = l.change(ctx, put(spec.RPCKVPut, kvPath+ownership.LockKey+"?acquire="+holder.ID, content))
	}
	return made, orNoLock(err)
}

func (l *targetLock) RenewLock(ctx context.Context, _ ownership.LockSeen) (renewed bool, err error) {
	_, renewed, err = l.ask(ctx, put(spec.RPCSessionRenew, sessionPath+"renew/"+l.session, nil), everything)
	return renewed, err
}

func (l *targetLock) FreeLock(ctx context.Context, isOwn func([]byte) bool) error {
	seen, err := l.SeeLock(ctx)
	if err == nil && seen.Exists && isOwn(seen.Content) {
		_, _, err = l.ask(ctx, destroy(l.session), everything)
	}
	return err
}
