package etcd

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

const (
	// usualOperations is etcd's default limit of the operations, and of the comparisons, in one transaction. The limits of a
	// server, --max-txn-ops and --max-request-bytes, can be lower, and no request reads them.
	usualOperations = 128
	// pageKeys is the most keys that are listed, or deleted, at a time: a huge transaction stalls etcd.
	pageKeys = 1000
	// namedKeys is the most keys that one transaction deletes by name: an equal part of a page, below usualOperations.
	namedKeys = pageKeys / 8
	// lookahead is how many numbers ahead the walker looks for the next key. etcd visits every existing key in this
	// range, so the range is short where keys exist, and grows where none do.
	lookahead = 8 * pageKeys
)

// ownClaims are the claims of the driver's own run.
func (d *Driver) ownClaims() *claims {
	p := &d.plan
	c := &claims{driver: d, run: d.run, withMarker: p.LockPrefix(), leases: leaseIDs{p.FirstLease, p.UsesLeases(), false}}
	// ':' follows '9'.
	from, to, keys := p.Prefix+"0", p.Prefix+":", p.KeyWriter()
	var isOwn func(name string) bool
	switch {
	case p.UsesRegistry():
		from, to = workload.RegistryRange(p.Prefix)
		isOwn = func(name string) bool { return workload.IsObject(p.Prefix, []byte(name)) }
	case keys.HasFolders():
		isOwn = keys.IsInFolder
	}
	c.rest = []keyRange{{from, to}}
	c.walk = func(c *claims) ownership.Walker {
		if isOwn != nil {
			return &listWalker{claims: c, from: from, to: to, isOwn: isOwn}
		}
		return &numberWalker{claims: c, keys: keys, count: p.Keys().Count, atOnce: pageKeys, ahead: lookahead}
	}
	return c
}

// anyClaims are the claims of a run of which only the prefix, the UID and the IDs of leases are known.
func (d *Driver) anyClaims(run *ownership.Run, firstLease int64) *claims {
	end := clientv3.GetPrefixRangeEnd(run.Prefix)
	return &claims{
		driver: d, run: run, leases: leaseIDs{firstLease, true, true},
		rest: []keyRange{{run.Prefix, run.Marker()}, {run.Marker() + "\x00", end}},
		walk: func(c *claims) ownership.Walker {
			return &listWalker{claims: c, from: run.Prefix, to: end, isOwn: func(name string) bool { return isOfAnyRun(run.Prefix, name) }}
		},
	}
}

// isOfAnyRun reports whether a run can have written a key under its prefix. The size of numbered keys is not known.
func isOfAnyRun(prefix, name string) bool {
	return names.MatchString(strings.TrimPrefix(name, prefix)) || workload.IsObject(prefix, []byte(name))
}

// names are those of numbered keys, of keys in folders, of locks, and of the keys of storms, after the prefix.
var names = regexp.MustCompile(`^([0-9]+((/[ab]+)*/[ab]*[0-9]+)?|\.lock/(stm|[0-9]+)/[0-9a-f]+|\.storm/[0-9]+/[0-9]+/[0-9]+)$`)

// Walk implements ownership.Store.
func (c *claims) Walk() ownership.Walker { return c.walk(c) }

// Delete implements ownership.Store. Keys that lie alone are deleted as a range, others by their names, because keys of others
// may lie between them.
func (c *claims) Delete(ctx context.Context, s ownership.Batch, released int64) (done bool, err error) {
	first, after := s.Keys[0].Name, s.Keys[len(s.Keys)-1].Name+"\x00"
	guards := []clientv3.Cmp{c.owns(), c.noPodWrites()}
	deletions := make([]clientv3.Op, 0, len(s.Keys))
	if s.Alone {
		guards, deletions = append(guards, unchanged(first, after, released)), []clientv3.Op{clientv3.OpDelete(first, clientv3.WithRange(after))}
	} else {
		if s.Keys[0].Version == 0 {
			guards = append(guards, unchanged(first, after, released))
		}
		for _, key := range s.Keys {
			if key.Version != 0 {
				guards = append(guards, clientv3.Compare(clientv3.ModRevision(key.Name), "=", key.Version))
			}
			deletions = append(deletions, clientv3.OpDelete(key.Name))
		}
	}
	out, err := c.txn(ctx, guards, deletions...)
	return err == nil && out.Succeeded, err
}

// Reread implements ownership.Store.
func (c *claims) Reread(ctx context.Context, s ownership.Batch, released int64) (found []ownership.Batch, err error) {
	mayBe := map[string]bool{}
	for _, key := range s.Keys {
		mayBe[key.Name] = true
	}
	w := listWalker{claims: c, from: s.Keys[0].Name, to: s.Keys[len(s.Keys)-1].Name + "\x00", isOwn: func(name string) bool { return mayBe[name] }, byName: true}
	for done := false; !done && err == nil; {
		var page []ownership.Batch
		page, done, err = w.Next(ctx, released)
		found = append(found, page...)
	}
	return found, err
}

// listWalker lists keys page by page.
type listWalker struct {
	claims   *claims
	from, to string
	isOwn    func(name string) bool
	// byName: the keys are deleted by their names, also where they lie alone.
	byName bool
	spared int64
}

// Next implements ownership.Walker.
func (w *listWalker) Next(ctx context.Context, released int64) (page []ownership.Batch, done bool, err error) {
	client, err := w.claims.client(ctx)
	if err != nil {
		return nil, true, err
	}
	found, err := get(ctx, client, w.from, clientv3.WithRange(w.to), clientv3.WithKeysOnly(), clientv3.WithLimit(pageKeys))
	if err != nil || len(found.Kvs) == 0 {
		return nil, true, err
	}
	w.from = string(found.Kvs[len(found.Kvs)-1].Key) + "\x00"
	var own []ownership.Key
	for _, kv := range found.Kvs {
		if w.owns(kv, released) {
			own = append(own, ownership.Key{Name: string(kv.Key), Version: kv.ModRevision})
		}
	}
	if len(own) == len(found.Kvs) && !w.byName {
		return []ownership.Batch{{Keys: own, Alone: true}}, false, nil
	}
	return inParts(own), false, nil
}

func (w *listWalker) owns(kv *mvccpb.KeyValue, released int64) bool {
	name := string(kv.Key)
	if w.isOwn(name) && kv.ModRevision <= released {
		return true
	}
	if name != w.claims.run.Marker() && !ownership.IsPod(w.claims.run.Prefix, name) {
		w.spared++
	}
	return false
}

// inParts splits keys into batches that one transaction can name.
func inParts(keys []ownership.Key) (parts []ownership.Batch) {
	for len(keys) > 0 {
		n := min(namedKeys, len(keys))
		parts, keys = append(parts, ownership.Batch{Keys: keys[:n]}), keys[n:]
	}
	return parts
}

// Passed implements ownership.Walker.
func (w *listWalker) Passed() (passed, of int64) { return 0, 0 }

// Spared implements ownership.Walker.
func (w *listWalker) Spared() int64 { return w.spared }

// numberWalker walks over the key space by number. It does not list keys, because etcd would read all values for that. It
// counts them, for which etcd reads only its index.
type numberWalker struct {
	claims *claims
	keys   workload.KeyWriter
	// count is the number of key numbers, next the lowest one whose key may exist.
	count, next int64
	// name is a buffer.
	name []byte
	// atOnce is the length of a block.
	atOnce, ahead int64
}

// Next implements ownership.Walker.
func (w *numberWalker) Next(ctx context.Context, _ int64) (page []ownership.Batch, done bool, err error) {
	if w.next >= w.count {
		return nil, true, nil
	}
	from, to := w.next, min(w.next+w.atOnce, w.count)
	horizon := min(to+w.ahead, w.count)
	look := []clientv3.Op{clientv3.OpGet(w.after(to-1), clientv3.WithRange(w.after(horizon-1)), clientv3.WithLimit(1), clientv3.WithKeysOnly())}
	for part := from; part < to; part += namedKeys {
		look = append(look, clientv3.OpGet(w.key(part), clientv3.WithRange(w.after(min(part+namedKeys, to)-1)), clientv3.WithCountOnly()))
	}
	seen, err := w.claims.txn(ctx, nil, look...)
	if isTooLarge(err) && w.atOnce > namedKeys {
		w.atOnce /= 2
		return nil, false, nil
	}
	if err != nil {
		return nil, true, err
	}
	for i, count := range seen.Responses[1:] {
		if count.GetResponseRange().Count > 0 {
			part := from + int64(i)*namedKeys
			page = append(page, w.batch(part, min(part+namedKeys, to)))
		}
	}
	if next := seen.Responses[0].GetResponseRange().Kvs; len(next) > 0 {
		w.next, w.ahead = w.numberOf(next[0].Key, to), lookahead
	} else {
		w.next, w.ahead = horizon, 2*w.ahead
	}
	return page, false, nil
}

func (w *numberWalker) batch(from, to int64) ownership.Batch {
	s := ownership.Batch{Keys: make([]ownership.Key, 0, to-from)}
	for number := from; number < to; number++ {
		s.Keys = append(s.Keys, ownership.Key{Name: w.key(number)})
	}
	return s
}

func (w *numberWalker) key(number int64) string {
	w.name = w.keys.AppendKey(w.name[:0], number)
	return string(w.name)
}

// after is the key that follows the key of a number.
func (w *numberWalker) after(number int64) string { return w.key(number) + "\x00" }

// numberOf is the inverse of key. It never returns less than from, so that a foreign key cannot lead back.
func (w *numberWalker) numberOf(key []byte, from int64) int64 {
	prefix := len(w.claims.run.Prefix)
	digits := string(key[prefix:])
	number, err := strconv.ParseInt(digits[:min(len(digits), w.keys.KeyBytes()-prefix)], 10, 64)
	if err != nil || number < from {
		return from
	}
	return number
}

// Passed implements ownership.Walker.
func (w *numberWalker) Passed() (passed, of int64) { return min(w.next, w.count), w.count }

// Spared implements ownership.Walker.
func (w *numberWalker) Spared() int64 { return 0 }
