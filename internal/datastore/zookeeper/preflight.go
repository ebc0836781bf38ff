package zookeeper

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Preflight implements load.Driver.
func (d *Driver) Preflight(ctx context.Context) (*results.Target, members.View, error) {
	target, view, err := d.preflight(ctx)
	return target, view, remote.Settled(ctx, err, d.explain, d.addresses.String())
}

func (d *Driver) preflight(ctx context.Context) (*results.Target, members.View, error) {
	all, skipped, err := remote.Ask(ctx, d.addresses, passes, d.explain, d.healthOf)
	if err != nil {
		return nil, members.View{}, err
	}
	if err := d.checkEnsemble(all); err != nil {
		return nil, members.View{}, err
	}
	if err := d.checkConnections(ctx); err != nil {
		return nil, members.View{}, err
	}
	if err := d.guard(ctx); err != nil {
		return nil, members.View{}, err
	}
	voters, unlisted := d.voters(ctx)
	target := &results.Target{ClusterID: remote.Hashed(d.identity(voters)...), Unlisted: unlisted, Skipped: skipped}
	view := members.View{At: time.Now(), Members: map[string]members.State{}, Voters: voters}
	for i, endpoint := range d.addresses.Loaded() {
		h := all[i]
		target.Members = append(target.Members, results.Member{
			ID: remote.Hashed(endpoint), Name: endpoint, Endpoint: endpoint, Version: h.version, Leader: h.leads,
		})
		view.Members[remote.Hashed(endpoint)] = h.state(endpoint)
	}
	return target, view, nil
}

// checkEnsemble refuses addresses of several ensembles, which have several leaders.
func (d *Driver) checkEnsemble(all []health) error {
	leader := ""
	for i, endpoint := range d.addresses.Loaded() {
		switch {
		case !all[i].leads:
		case leader != "":
			return load.Errorf(results.FailureTargetUnhealthy,
				"%s and %s both lead, so they are not servers of one ensemble; name the servers of one ensemble", leader, endpoint)
		default:
			leader = endpoint
		}
	}
	return nil
}

// identity distinguishes ensembles: ZooKeeper has no cluster ID.
func (d *Driver) identity(voters []string) []string {
	if len(voters) > 0 {
		return voters
	}
	return slices.Sorted(slices.Values(d.plan.Target.Endpoints))
}

// state is the server's view of the ensemble. Only the leader reports who leads.
func (h health) state(endpoint string) members.State {
	s := members.State{Version: h.version}
	if h.leads {
		// The epoch of a standalone server is 0, and a term must not be.
		s.Leader, s.Term = remote.Hashed(endpoint), h.epoch+1
	}
	return s
}

// View implements load.Observer.
func (d *Driver) View(ctx context.Context) members.View {
	view := members.View{At: time.Now()}
	var asking sync.WaitGroup
	asking.Go(func() { view.Voters, _ = d.voters(ctx) })
	view.Members = d.addresses.States(func(endpoint string) (members.State, error) {
		h, err := d.healthOf(ctx, endpoint)
		return h.state(endpoint), d.explain(err, endpoint)
	})
	asking.Wait()
	return view
}

// configuration is the znode that lists the servers of an ensemble.
const configuration = "/zookeeper/config"

// voters returns the voting servers as the ensemble lists them, or why they cannot be
// listed. A standalone server lists none, and is the only voter.
func (d *Driver) voters(ctx context.Context) (voters []string, unlisted string) {
	config, err := d.read(ctx, configuration)
	if err != nil {
		return nil, d.explain(err, d.addresses.String()).Error()
	}
	for line := range strings.Lines(config.data) {
		server, at, _ := strings.Cut(strings.TrimSpace(line), "=")
		if strings.HasPrefix(server, "server.") && !strings.Contains(at, ":observer") {
			voters = append(voters, server+"="+at)
		}
	}
	slices.Sort(voters)
	if len(voters) == 0 && len(d.plan.Target.Endpoints) == 1 {
		voters = []string{remote.Hashed(d.plan.Target.Endpoints[0])}
	}
	return voters, ""
}

// controlConnections is how many connections a pod opens to a server beside the load: the control session, that of the lock (only
// client pod 0), one for srvr, and one for mntr.
const controlConnections = 4

// checkConnections compares this pod's connections to each server with its maxClientCnxns. If a server does not report
// it, Connect fails and explains the limit.
func (d *Driver) checkConnections(ctx context.Context) error {
	endpoints := d.addresses.Loaded()
	return remote.Troubles(endpoints, remote.All(endpoints, func(i int) error {
		most, known := d.mostConnections(ctx, endpoints[i])
		if !known {
			return nil
		}
		return d.addresses.Fit(endpoints[i], most, controlConnections, "maxClientCnxns", "zoo.cfg")
	}))
}

// tenants are systems that depend on ZooKeeper, by the znodes that they create.
var tenants = map[string]string{
	"/brokers": "Kafka", "/controller": "Kafka", "/hbase": "HBase", "/solr": "Solr", "/ledgers": "BookKeeper", "/clickhouse": "ClickHouse",
}

// guard refuses an ensemble that another system depends on.
func (d *Driver) guard(ctx context.Context) error {
	return d.addresses.Guard("ZooKeeper", tenants, func(znode string) (bool, error) {
		found, err := d.stat(ctx, znode)
		if errors.Is(err, zk.ErrNoAuth) {
			// It exists: a server hides only what exists.
			return true, nil
		}
		return found.exists, err
	})
}

// waiterBytes is an upper bound of what a list of contenders has for each of them.
const waiterBytes = 32

// frameBytes is the size of a buffer for one request of the load, or for the list of all contenders for a name.
func (d *Driver) frameBytes() int {
	put := int(d.plan.Values().SizeBytes) + 2*d.tree.keys.KeyBytes() + opBytes
	size := max(smallestFrame, put*max(d.plan.KeysAtOnce(), 1))
	if names := d.tree.names; names > 0 {
		size = max(size, (int(d.plan.Load.Clients)+names-1)/names*waiterBytes)
	}
	return size
}
