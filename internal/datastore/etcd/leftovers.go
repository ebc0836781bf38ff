package etcd

import (
	"context"
	"strings"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// searcher is ownership.Searcher for etcd and kine.
type searcher struct {
	*Driver
	// kine: the target is kine. asked: the target was asked whether it is.
	kine, asked bool
}

// NewLeftovers returns the leftovers of a target. It connects to nothing yet.
func NewLeftovers(t plan.Target) *ownership.Leftovers {
	p := plan.Plan{Target: t}
	p.Target.Members, p.Target.MemberIndex = spec.MembersAll, nil
	p.Load.Transport = spec.TransportClient
	return &ownership.Leftovers{Searcher: &searcher{Driver: New(p, 0)}}
}

// client returns the client of the target, and learns whether that is kine.
func (s *searcher) client(ctx context.Context) (*clientv3.Client, error) {
	client, err := s.controlClient(ctx)
	if err != nil || s.asked {
		return client, err
	}
	status, err := statusOf(ctx, client)
	if isRefused(err) {
		// kine refuses nothing.
		s.asked = true
		return client, nil
	}
	s.kine, s.asked = err == nil && status.Header.GetMemberId() == 0, err == nil
	return client, err
}

// Claims implements ownership.Searcher. See or Names was called before.
func (s *searcher) Claims(run *ownership.Run, firstLease int64) ownership.Store {
	if s.kine {
		return newKineClaims(s.Driver, run, ownership.Keyspace{Folder: run.Prefix, IsOwn: func(name string) bool { return isOfAnyRun(run.Prefix, name) }})
	}
	return s.anyClaims(run, firstLease)
}

// Settle implements ownership.Searcher.
func (s *searcher) Settle(ctx context.Context, err error) error {
	return settled(ctx, err, s.addresses())
}

// Names implements ownership.Searcher. It reads the first key after each name.
func (s *searcher) Names(ctx context.Context, folder string) (names []string, err error) {
	client, err := s.client(ctx)
	if err != nil {
		return nil, err
	}
	for from := folder; ; {
		found, err := get(ctx, client, from, clientv3.WithRange(clientv3.GetPrefixRangeEnd(folder)), clientv3.WithKeysOnly(), clientv3.WithLimit(1))
		if err != nil || len(found.Kvs) == 0 {
			return names, err
		}
		name, _, isFolder := strings.Cut(strings.TrimPrefix(string(found.Kvs[0].Key), folder), "/")
		from = folder + name + "\x00"
		if isFolder {
			name += "/"
			from = clientv3.GetPrefixRangeEnd(folder + name)
		}
		names = append(names, name)
	}
}

// Nested implements ownership.Searcher.
func (s *searcher) Nested(ctx context.Context, folder string) (prefixes []string, others bool, err error) {
	client, err := s.client(ctx)
	if err != nil {
		return nil, false, err
	}
	found, err := get(ctx, client, folder, clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(pageKeys))
	if err != nil {
		return nil, false, err
	}
	var names []string
	for _, kv := range found.Kvs {
		names = append(names, string(kv.Key))
	}
	prefixes, others = ownership.NestedIn(names)
	return prefixes, others || found.Count > int64(len(found.Kvs)), nil
}

// See implements ownership.Searcher.
func (s *searcher) See(ctx context.Context, prefix string) (seen ownership.Seen, err error) {
	reads := []clientv3.Op{clientv3.OpGet(ownership.MarkerOf(prefix)), clientv3.OpGet(prefix+ownership.PodsFolder, clientv3.WithPrefix()),
		clientv3.OpGet(prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())}
	if !strings.HasSuffix(prefix, "/") {
		// One key.
		reads[2] = clientv3.OpGet(prefix, clientv3.WithCountOnly())
	}
	found, err := s.read(ctx, reads...)
	if err != nil {
		return seen, err
	}
	var marker *ownership.Item
	// A key beside one key can be called as a marker.
	if len(found[0].Kvs) > 0 && strings.HasSuffix(prefix, "/") {
		marker = new(itemOf(found[0].Kvs[0]))
	}
	var pods []ownership.Item
	for _, kv := range found[1].Kvs {
		pods = append(pods, itemOf(kv))
	}
	return ownership.SeenAt(prefix, marker, pods, found[2].Count), nil
}

func itemOf(kv *mvccpb.KeyValue) ownership.Item {
	return ownership.Item{Key: ownership.Key{Name: string(kv.Key), Version: kv.ModRevision}, Value: kv.Value, Created: kv.CreateRevision}
}

// read reads in one transaction, or from kine in one request each.
func (s *searcher) read(ctx context.Context, reads ...clientv3.Op) (found []*etcdserverpb.RangeResponse, err error) {
	client, err := s.client(ctx)
	if err != nil {
		return nil, err
	}
	if !s.kine {
		seen, err := commit(ctx, client, nil, reads...)
		if err != nil {
			return nil, err
		}
		for _, r := range seen.Responses {
			found = append(found, r.GetResponseRange())
		}
		return found, nil
	}
	for _, op := range reads {
		err := repeat(ctx, func(ctx context.Context) error {
			seen, err := client.Do(ctx, op)
			if err == nil {
				found = append(found, (*etcdserverpb.RangeResponse)(seen.Get()))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}
