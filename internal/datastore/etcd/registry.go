package etcd

import (
	"context"
	"fmt"
	"sync"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// registry is what an API server keeps of its objects: their revisions, as its watches and its own requests report
// them, the locks for writing them, and the lease of its events.
type registry struct {
	lease eventLease
	locks *keyLocks

	mutex     sync.Mutex
	revisions map[string]int64
}

func newRegistry(p plan.Plan, index int) *registry {
	return &registry{revisions: map[string]int64{}, locks: newKeyLocks(), lease: eventLease{plan: p, next: int64(index)}}
}

// learn records an object's revision; gone means that the object was deleted at that revision. Reports older than the
// recorded revision are ignored.
func (r *registry) learn(key string, revision int64, gone bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	switch {
	case revision < r.revisions[key]:
	case gone:
		delete(r.revisions, key)
	default:
		r.revisions[key] = revision
	}
}

// learnFound records what was read at a revision; nil means that the object does not exist.
func (r *registry) learnFound(key string, found *mvccpb.KeyValue, at int64) {
	if found == nil {
		r.learn(key, at, true)
		return
	}
	r.learn(key, found.ModRevision, false)
}

// expected returns the revision that an object should have: the recorded one, or the one that it now reads; 0 if the
// object does not exist.
func (r *registry) expected(ctx context.Context, k kubernetes.Client, key string) (int64, error) {
	r.mutex.Lock()
	revision, known := r.revisions[key]
	r.mutex.Unlock()
	if known {
		return revision, nil
	}
	got, err := k.Get(ctx, key, kubernetes.GetOptions{})
	if err != nil || got.KV == nil {
		return 0, err
	}
	r.learnFound(key, got.KV, got.Revision)
	return got.KV.ModRevision, nil
}

// Requests on objects have the forms of clientv3/kubernetes, which API servers use.

func putObject(ctx context.Context, d *Driver, client *clientv3.Client, req *load.Request, resp *load.Response) {
	resp.Sent = load.Now()
	finish(resp, d.registry.put(ctx, kubernetes.Client{Client: client}, req, resp))
}

func deleteObject(ctx context.Context, d *Driver, client *clientv3.Client, req *load.Request, resp *load.Response) {
	resp.Sent = load.Now()
	finish(resp, d.registry.delete(ctx, kubernetes.Client{Client: client}, req, resp))
}

func listObjects(ctx context.Context, _ *Driver, client *clientv3.Client, req *load.Request, resp *load.Response) {
	resp.Sent = load.Now()
	_, err := list(ctx, kubernetes.Client{Client: client}, string(req.Key), req.PageSize, func(*mvccpb.KeyValue) {})
	finish(resp, err)
}

// put creates an object, or changes it if it still has the recorded revision. A put that loses records the current
// state, as the API server does for its retry. If the object does not exist, the put lost against its deletion, or the
// creation failed before and was counted as failed.
func (r *registry) put(ctx context.Context, k kubernetes.Client, req *load.Request, resp *load.Response) (err error) {
	key, expected, options := string(req.Key), int64(0), kubernetes.PutOptions{GetOnFailure: !req.Create}
	done, err := r.locks.take(ctx, key)
	if err != nil {
		return err
	}
	defer done()
	if !req.Create {
		if expected, err = r.expected(ctx, k, key); err != nil || expected == 0 {
			resp.Lost = err == nil
			return err
		}
	}
	if req.Expires {
		if options.LeaseID, err = r.lease.get(ctx, k.Client); err != nil {
			return err
		}
	}
	out, err := k.OptimisticPut(ctx, key, req.Value, expected, options)
	switch {
	case err != nil:
		return err
	case out.Succeeded:
		r.learn(key, out.Revision, false)
	case options.GetOnFailure:
		r.learnFound(key, out.KV, out.Revision)
	}
	resp.Lost = !out.Succeeded
	return nil
}

func (r *registry) delete(ctx context.Context, k kubernetes.Client, req *load.Request, resp *load.Response) error {
	key := string(req.Key)
	done, err := r.locks.take(ctx, key)
	if err != nil {
		return err
	}
	defer done()
	expected, err := r.expected(ctx, k, key)
	if err != nil || expected == 0 {
		resp.Lost = err == nil
		return err
	}
	out, err := k.OptimisticDelete(ctx, key, expected, kubernetes.DeleteOptions{GetOnFailure: true})
	if err != nil {
		return err
	}
	if out.Succeeded {
		r.learn(key, out.Revision, true)
	} else {
		r.learnFound(key, out.KV, out.Revision)
	}
	resp.Lost = !out.Succeeded
	return nil
}

// list reads all keys under a prefix in pages, at the revision of the first page, and returns that revision. Fewer keys
// than etcd has counted are an error.
func list(ctx context.Context, k kubernetes.Client, prefix string, limit int64, see func(*mvccpb.KeyValue)) (revision int64, err error) {
	options, left := kubernetes.ListOptions{Limit: limit}, int64(0)
	for page := 0; page == 0 || left > 0; page++ {
		out, err := k.List(ctx, prefix, options)
		if err != nil {
			return 0, err
		}
		if page == 0 {
			options.Revision, left = out.Revision, out.Count
		}
		for _, kv := range out.Kvs {
			see(kv)
		}
		left -= int64(len(out.Kvs))
		if len(out.Kvs) == 0 && left > 0 {
			return 0, status.Error(codes.DataLoss, fmt.Sprintf("the pages lack %s of the objects that etcd counted", text.Grouped(left)))
		}
		if left > 0 {
			options.Continue = string(out.Kvs[len(out.Kvs)-1].Key) + "\x00"
		}
	}
	return options.Revision, nil
}
