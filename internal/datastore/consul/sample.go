package consul

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/exposition"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

var agentMetrics = get(spec.RPCAgentMetrics, "/v1/agent/metrics?format=prometheus")

// metrics reads those of a server.
var metrics = exposition.New(exposition.Table{
	Counters: map[string]results.Figure{},
	Gauges:   map[string]members.Gauge{},
	Timers: map[string]exposition.Timer{
		// The first one is of the leader, the second one of its followers.
		"consul_raft_leader_dispatchLog":          {Is: results.TimerWALFsync, Milliseconds: true},
		"consul_raft_rpc_appendEntries_storeLogs": {Is: results.TimerWALFsync, Milliseconds: true},
		"consul_raft_fsm_apply":                   {Is: results.TimerApply, Milliseconds: true},
		"consul_raft_replication_heartbeat":       {Is: results.TimerPeerRoundTrip, Milliseconds: true},
		"consul_api_http":                         {Is: results.TimerHandling, Milliseconds: true, Counts: isWrite},
	},
})

// writePaths are what TimerHandling includes. A name of a path ends with what stands for a key.
var writePaths = map[string]bool{"v1_kv": true, "v1_txn": true, "v1_session_create": true, "v1_session_destroy": true}

func isWrite(label func(name string) string) bool {
	return label("method") != http.MethodGet && writePaths[strings.TrimRight(strings.ReplaceAll(label("path"), ".", "_"), "_")]
}

// Sample implements load.Sampler.
func (d *Driver) Sample(ctx context.Context) map[string]members.Sample {
	return d.addresses.Samples(func(endpoint string) (members.Sample, error) {
		s, err := d.sample(ctx, endpoint)
		refused, _ := errors.AsType[*refusal](err)
		switch {
		case isDenied(err):
			err = fmt.Errorf("%w: add agent_prefix \"\" {policy = \"read\"} to the policy of the token", err)
		case refused != nil && refused.status == http.StatusUnsupportedMediaType:
			err = fmt.Errorf("%w: set telemetry.prometheus_retention_time of the server to \"24h\"", err)
		}
		return s, err
	})
}

// sample reads the metrics of a server. Its term counts elections, also those without a winner.
func (d *Driver) sample(ctx context.Context, endpoint string) (members.Sample, error) {
	text, _, err := d.sendControl(ctx, endpoint, agentMetrics, exposition.MaxBytes)
	if err != nil {
		return members.Sample{}, err
	}
	at := time.Now()
	page, err := metrics.Parse(text)
	if err != nil {
		return members.Sample{}, err
	}
	s := metrics.Sample(page, at)
	var h health
	if text, _, err = d.sendControl(ctx, endpoint, agentSelf, everything); err == nil && json.Unmarshal(text, &h) == nil && h.Stats.Raft.Term > 0 {
		s.Counters[results.FigureLeaderChanges] = float64(h.Stats.Raft.Term)
	}
	return s, nil
}
