package consul

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/http1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/remote"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

var (
	statusLeader = get(spec.RPCStatusLeader, "/v1/status/leader")
	agentSelf    = get(spec.RPCAgentSelf, "/v1/agent/self")
)

// health is what a server reports.
type health struct {
	// leader and peers are addresses of servers, as they call each other.
	leader string
	peers  []string
	// The rest is empty if the token may not read it (agent:read).
	Config      struct{ Version, NodeName string }
	DebugConfig struct{ HTTPMaxConnsPerClient, KVMaxValueSize int }
	Stats       struct {
		Raft struct {
			State string
			Term  uint64 `json:",string"`
		}
	}
}

// healthOf asks an address.
func (d *Driver) healthOf(ctx context.Context, endpoint string) (h health, err error) {
	for _, part := range []struct {
		http1.Request
		into any
	}{
		{statusLeader, &h.leader}, {get(spec.RPCStatusPeers, "/v1/status/peers"), &h.peers}, {agentSelf, &h},
	} {
		body, _, err := d.sendControl(ctx, endpoint, part.Request, everything)
		switch {
		case isDenied(err) && part.RPC == spec.RPCAgentSelf:
		case err != nil:
			return h, err
		case json.Unmarshal(body, part.into) != nil:
			return h, errNotConsul
		case h.leader == "":
			return h, errNoLeader
		}
	}
	slices.Sort(h.peers)
	return h, nil
}

// state has the address of the leader as its ID. A term must not be 0; without it, the election of the same leader is not
// noticed.
func (h health) state() members.State {
	return members.State{Leader: h.leader, Term: max(1, h.Stats.Raft.Term), Version: h.Config.Version}
}

// Preflight implements load.Driver.
func (d *Driver) Preflight(ctx context.Context) (*results.Target, members.View, error) {
	target, view, err := d.preflight(ctx)
	return target, view, remote.Settled(ctx, err, d.explain, d.addresses.String())
}

func (d *Driver) preflight(ctx context.Context) (*results.Target, members.View, error) {
	if _, err := d.credentials(); err != nil {
		return nil, members.View{}, err
	}
	if err := d.checkShare(); err != nil {
		return nil, members.View{}, err
	}
	all, skipped, err := remote.Ask(ctx, d.addresses, passes, d.explain, d.healthOf)
	if err != nil {
		return nil, members.View{}, err
	}
	target, view := &results.Target{Skipped: skipped}, members.View{At: time.Now(), Members: map[string]members.State{}}
	for i, h := range all {
		endpoint := d.addresses.Loaded()[i]
		if i == 0 {
			view.Voters = h.peers
		}
		if !slices.Equal(view.Voters, h.peers) {
			return nil, view, load.Errorf(results.FailureTargetUnhealthy, "%s has other servers, %q, than the address before it, %q; name the servers of one cluster", endpoint, h.peers, view.Voters)
		}
		if err := d.checkLimits(endpoint, h); err != nil {
			return nil, view, err
		}
		target.Members = append(target.Members, results.Member{
			ID: remote.Hashed(endpoint), Name: cmp.Or(h.Config.NodeName, endpoint), Endpoint: endpoint, Version: h.Config.Version, Leader: h.Stats.Raft.State == "Leader",
		})
		view.Members[remote.Hashed(endpoint)] = h.state()
	}
	target.ClusterID = remote.Hashed(view.Voters...)
	if target.Notes, err = d.guard(ctx); err == nil {
		err = d.checkRights(ctx)
	}
	return target, view, err
}

// checkLimits compares what this pod needs with the limits of a server. If the server does not report them, Connect and the
// first put fail, and explain the limit.
func (d *Driver) checkLimits(endpoint string, h health) error {
	if size, largest := int(d.plan.Values().SizeBytes), h.DebugConfig.KVMaxValueSize; largest > 0 && size > largest {
		return load.Errorf(results.FailureTargetUnhealthy, "%s takes values of at most %d bytes (limits.kv_max_value_size), and those of this run have %d: lower values.sizeBytes", endpoint, largest, size)
	}
	return d.addresses.Fit(endpoint, h.DebugConfig.HTTPMaxConnsPerClient, controlConnections, "limits.http_max_conns_per_client")
}

// tenants are systems that keep their data in Consul, by the folders of their keys.
var tenants = map[string]string{"vault/": "Vault", "nomad/": "Nomad"}

// guard refuses a Consul that another system depends on, and returns a note about keys that the token may not read. Consul
// leaves these out of a list, and refuses a read of one key.
func (d *Driver) guard(ctx context.Context) (notes []string, err error) {
	var unread []string
	err = d.addresses.Guard("Consul", tenants, func(folder string) (bool, error) {
		found, err := d.names(ctx, folder, true, itsStart)
		if err == nil && len(found) == 0 {
			_, _, err = d.ask(ctx, get(spec.RPCKVGet, pathOf(folder)), itsStart)
		}
		if isDenied(err) {
			unread = append(unread, folder)
			return false, nil
		}
		return len(found) > 0, err
	})
	if len(unread) > 0 {
		notes = append(notes, fmt.Sprintf("this token may not read the keys below %s, so the guard cannot know whether another system depends on this Consul: "+
			"give it key_prefix with policy = \"read\" for them", strings.Join(unread, ", ")))
	}
	return notes, err
}

// checkRights sends a transaction that changes nothing, because the marker never has this index. Consul checks the rights on
// each key first. Those on sessions are checked by the use of one.
func (d *Driver) checkRights(ctx context.Context) error {
	if d.index > 0 {
		return nil
	}
	_, err := kv{d}.DeleteIf(ctx, ownership.Key{Name: d.run.Marker(), Version: 1}, []ownership.Key{{Name: d.run.Marker()}, {Name: d.run.PodKey()}})
	if err == nil && d.plan.UsesLeases() {
		err = d.checkSessions(ctx)
	}
	return err
}

// View implements load.Observer.
func (d *Driver) View(ctx context.Context) members.View {
	began, peers := time.Now(), make(chan []string, len(d.plan.Target.Endpoints))
	states := d.addresses.States(func(endpoint string) (members.State, error) {
		h, err := d.healthOf(ctx, endpoint)
		if err == nil {
			peers <- h.peers
		}
		return h.state(), d.explain(err, endpoint)
	})
	close(peers)
	return members.View{At: began, Members: states, Voters: <-peers}
}

// Answers implements load.Prober, with a read that the leader confirms with a majority.
func (d *Driver) Answers(ctx context.Context) bool {
	return remote.Answered(ctx, d.plan.Target.Endpoints, func(ctx context.Context, endpoint string) bool {
		_, _, err := d.sendControl(ctx, endpoint, get(spec.RPCKVGet, kvPath+d.run.Marker()+"?consistent"), everything)
		return err == nil || isDenied(err)
	})
}
