package etcd

import (
	"context"
	"hash/fnv"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// Kine is load.Driver for kine, which serves the API servers of K3s from a SQL database. It connects as the driver of
// etcd does. kine serves the requests of API servers and nothing else: transactions on one key that compare its mod
// revision, a time to live for a key, listings and watches. It has no members, no users, and no leases that can be
// renewed or listed.
type Kine struct {
	*ownership.Ownership
	*ownership.TargetLock
	driver *Driver
	claims *kineClaims
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
	d.run.Things = deletionFactor * p.PreloadCount()
	folder, _ := workload.RegistryRange(p.Prefix)
	own := newKineClaims(d, d.run, ownership.Keyspace{Folder: folder, IsOwn: func(name string) bool { return workload.IsObject(p.Prefix, []byte(name)) }})
	return &Kine{driver: d, claims: own, Ownership: ownership.New(d.run, own), TargetLock: ownership.NewTargetLock(d.run, own)}
}

// deletionFactor is how much longer kine needs for a deletion than etcd.
const deletionFactor = 8

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
		return nil, unhealthy("the target has %d addresses (%s), and kine needs one: it does not report which "+
			"database it serves, so nothing shows whether two addresses lead to the same one. Name one, for "+
			"example the DNS name of a Service, in spec.target.endpoints", n, d.addresses())
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
