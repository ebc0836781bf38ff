package etcd

import (
	"context"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/reach"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Kine is load.Driver for kine, which serves the API servers of K3s from a SQL database. It connects as the driver of
// etcd does. kine serves the requests of API servers and nothing else: transactions on one key that compare its mod
// revision, a time to live for a key, listings and watches. It has no members, no users, and no leases that can be
// renewed or listed.
type Kine struct {
	driver *Driver
	// marked: this pod has sent a request to create the marker.
	marked bool
}

var (
	_ load.Driver = (*Kine)(nil)
	_ load.Locker = (*Kine)(nil)
	_ load.Prober = (*Kine)(nil)
)

// NewKine returns the driver of the pod with this index. It reads nothing and connects to nothing yet.
func NewKine(p plan.Plan, index int) *Kine {
	d := New(p, index)
	d.hidesOutages = true
	return &Kine{driver: d}
}

// Connect implements load.Driver.
func (k *Kine) Connect(ctx context.Context, connection int) (load.Conn, error) {
	return k.driver.Connect(ctx, connection)
}

// Requests implements load.Driver.
func (k *Kine) Requests() map[spec.RPC]map[results.Phase]uint64 { return k.driver.Requests() }

// Answers implements load.Prober.
func (k *Kine) Answers(ctx context.Context) bool { return k.driver.Answers(ctx) }

// Close implements load.Driver.
func (k *Kine) Close() error { return k.driver.Close() }

// Preflight implements load.Driver.
func (k *Kine) Preflight(ctx context.Context) (*results.Target, members.View, error) {
	target, err := k.preflight(ctx)
	return target, members.View{}, settled(ctx, err, k.driver.addresses())
}

func (k *Kine) preflight(ctx context.Context) (*results.Target, error) {
	d := k.driver
	if n := len(d.plan.Target.Endpoints); n != 1 {
		return nil, unhealthy("the target has %d addresses (%s), and kine needs one: it does not report which database it serves, so nothing shows whether two addresses lead to the same one. Name one, for example the DNS name of a Service, in spec.target.endpoints", n, d.addresses())
	}
	endpoint := d.plan.Target.Endpoints[0]
	if _, err := d.probeAll(ctx); err != nil {
		return nil, err
	}
	client, err := d.controlClient(ctx)
	if err != nil {
		return nil, err
	}
	found, err := statusOf(ctx, client)
	switch {
	case err != nil:
		return nil, err
	case found.Header.GetMemberId() != 0:
		return nil, load.Errorf(results.FailureUnsupported, "%s is a member of an etcd cluster, and the run is for kine: set spec.target.datastore: Etcd", endpoint)
	}
	if err := k.guardControlPlane(ctx, client); err != nil {
		return nil, err
	}
	server := member{id: kineID(endpoint), endpoint: endpoint, state: stateIn(found)}
	d.mutex.Lock()
	d.topology = topology{members: []member{server}, seen: time.Now()}
	d.mutex.Unlock()
	target := &results.Target{ClusterID: hexID(server.id), Members: []results.Member{{
		ID: hexID(server.id), Name: "kine", Endpoint: endpoint, Version: server.state.Version, DatabaseBytes: server.state.DatabaseBytes,
	}}}
	return target, nil
}

// statusOf reads the status of the server that the client is connected to.
func statusOf(ctx context.Context, client *clientv3.Client) (found *etcdserverpb.StatusResponse, err error) {
	err = repeat(ctx, func(ctx context.Context) error {
		found, err = etcdserverpb.NewMaintenanceClient(client.ActiveConnection()).Status(ctx, &etcdserverpb.StatusRequest{})
		return err
	})
	return found, err
}

// kineID stands for the ID of a cluster and of its member, which kine does not have.
func kineID(endpoint string) uint64 {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(endpoint))
	return sum.Sum64()
}

// kineHealthKey is a key that kine itself creates where API servers keep their objects.
const kineHealthKey = controlPlaneKeys + "health"

// guardControlPlane refuses a kine that holds the objects of an API server.
func (k *Kine) guardControlPlane(ctx context.Context, client *clientv3.Client) error {
	if k.driver.plan.Guard.AcknowledgeControlPlane {
		return nil
	}
	found, err := get(ctx, client, controlPlaneKeys, clientv3.WithPrefix(), clientv3.WithKeysOnly(), clientv3.WithLimit(2))
	if err != nil {
		return err
	}
	own := int64(0)
	for _, kv := range found.Kvs {
		if string(kv.Key) == kineHealthKey {
			own = 1
		}
	}
	for _, kv := range found.Kvs {
		if string(kv.Key) != kineHealthKey {
			return k.driver.holdsControlPlane(text.Grouped(found.Count-own), kv.Key)
		}
	}
	return nil
}

// kineClient sends the transactions that kine serves.
type kineClient struct{ kubernetes.Client }

func (k *Kine) client(ctx context.Context) (kineClient, error) {
	client, err := k.driver.controlClient(ctx)
	return kineClient{kubernetes.Client{Client: client}}, err
}

// get returns nil if the key does not exist.
func (c kineClient) get(ctx context.Context, key string) (*mvccpb.KeyValue, error) {
	found, err := c.read(ctx, key)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// list returns the first keys of a range, without values.
func (c kineClient) list(ctx context.Context, from, to string, most int64) ([]*mvccpb.KeyValue, error) {
	return c.read(ctx, from, clientv3.WithRange(to), clientv3.WithKeysOnly(), clientv3.WithLimit(most))
}

func (c kineClient) read(ctx context.Context, key string, options ...clientv3.OpOption) (found []*mvccpb.KeyValue, err error) {
	err = repeatOnKine(ctx, func(ctx context.Context) error {
		got, err := c.Client.Client.Get(ctx, key, options...)
		if err == nil {
			found = got.Kvs
		}
		return err
	})
	return found, err
}

// put writes a key that has this mod revision, 0 for none. It returns whether the key had it. A put whose response was
// lost is repeated, and then returns false, too.
func (c kineClient) put(ctx context.Context, key, value string, revision int64, options kubernetes.PutOptions) (done bool, err error) {
	options.GetOnFailure = revision != 0
	err = repeatOnKine(ctx, func(ctx context.Context) error {
		out, err := c.OptimisticPut(ctx, key, []byte(value), revision, options)
		done = out.Succeeded
		return err
	})
	return done, err
}

// delete deletes a key that has this mod revision. A key with another one stays.
func (c kineClient) delete(ctx context.Context, key string, revision int64) error {
	return repeatOnKine(ctx, func(ctx context.Context) error {
		out, err := c.OptimisticDelete(ctx, key, revision, kubernetes.DeleteOptions{GetOnFailure: true})
		if err == nil && !out.Succeeded && out.KV != nil && out.KV.ModRevision == revision {
			// kine answers so if its database has refused the deletion.
			err = status.Errorf(codes.Unavailable, "kine did not delete %q, although its revision is %d", key, revision)
		}
		return err
	})
}

// removeAttempts is how often a key that changes meanwhile is deleted.
const removeAttempts = 5

// remove deletes a key at the revision that it has, whatever that is.
func (c kineClient) remove(ctx context.Context, key string) error {
	for range removeAttempts {
		kv, err := c.get(ctx, key)
		if err != nil || kv == nil {
			return err
		}
		if err := c.delete(ctx, key, kv.ModRevision); err != nil {
			return err
		}
	}
	return fmt.Errorf("deleting %q failed %d times, because something else wrote it each time", key, removeAttempts)
}

// repeatOnKine is repeat for kine. kine reports errors of its database without a code, which gRPC calls Unknown.
func repeatOnKine(ctx context.Context, try func(context.Context) error) error {
	return reach.Repeat(ctx, func(err error) bool { return passes(err) || codeOf(err) == codes.Unknown }, try)
}

// deleteParallel is how many deletions are in flight.
const deleteParallel = 8

// deleteAll deletes keys that have not changed since they were listed.
func (c kineClient) deleteAll(ctx context.Context, all []*mvccpb.KeyValue) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	left := make(chan *mvccpb.KeyValue, len(all))
	for _, kv := range all {
		left <- kv
	}
	close(left)
	var deleting sync.WaitGroup
	for range min(deleteParallel, len(all)) {
		deleting.Go(func() {
			for kv := range left {
				if err := c.delete(ctx, string(kv.Key), kv.ModRevision); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	deleting.Wait()
	return context.Cause(ctx)
}
