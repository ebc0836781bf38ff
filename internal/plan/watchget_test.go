package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// replaying makes a plan of the workload WatchGet.
func replaying(change func(*Plan)) func(*Plan) {
	return func(p *Plan) {
		p.Workload.Type, p.Workload.Serializable = WorkloadWatchGet, true
		p.Workload.WatchGet = &WatchGet{Streams: 4, WatchersPerStream: 5, Events: 8}
		change(p)
	}
}

func TestDecodeReturnsAWatchGet(t *testing.T) {
	want := valid()
	replaying(func(p *Plan) { p.Workload.WatchGet.Connections = 3 })(&want)
	data, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(data)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, plan changed on its way (-want +got):\n%s", err, diff)
	}
}

func TestValidateRefusesAWatchGet(t *testing.T) {
	tests := map[string]struct {
		change func(*Plan)
		want   string
	}{
		"without its field":        {func(p *Plan) { p.Workload.Type = WorkloadWatchGet }, "workload.watchGet"},
		"of another workload":      {func(p *Plan) { p.Workload.WatchGet = &WatchGet{Streams: 1, WatchersPerStream: 1, Events: 1} }, "workload.watchGet"},
		"without streams":          {replaying(func(p *Plan) { p.Workload.WatchGet.Streams = 0 }), "workload.watchGet.streams"},
		"without watchers":         {replaying(func(p *Plan) { p.Workload.WatchGet.WatchersPerStream = 0 }), "watchersPerStream"},
		"with too many watchers":   {replaying(func(p *Plan) { p.Workload.WatchGet.WatchersPerStream = 25_001 }), "watchersPerStream"},
		"without events":           {replaying(func(p *Plan) { p.Workload.WatchGet.Events = 0 }), "workload.watchGet.events"},
		"with too many events":     {replaying(func(p *Plan) { p.Workload.WatchGet.Events = MaxHistory + 1 }), "workload.watchGet.events"},
		"with reads by quorum":     {replaying(func(p *Plan) { p.Workload.Serializable = false }), "workload.serializable"},
		"with a pod of no stream":  {replaying(func(p *Plan) { p.Pods, p.Load.Connections, p.Load.Clients = 5, 5, 5 }), "workload.watchGet.streams"},
		"with a pod of no carrier": {replaying(func(p *Plan) { p.Workload.WatchGet.Connections = p.Pods - 1 }), "workload.watchGet.connections"},
		"with a carrier of none":   {replaying(func(p *Plan) { p.Workload.WatchGet.Connections = 5 }), "workload.watchGet.connections"},
		"with a pod of no key":     {replaying(func(p *Plan) { p.Pods, p.Workload.KeyCount, p.Load.Connections, p.Load.Clients = 2, 1, 5, 5 }), "workload.keyCount"},
		"that is compacted": {replaying(func(p *Plan) {
			p.Guard.AllowStoreWide, p.Disturbances = true, []Disturbance{{Kind: DisturbanceCompact, EverySeconds: 1}}
		}), "Compact beside WatchGet"},
		"over Fast": {replaying(func(p *Plan) { p.Load.Transport = TransportFast }), "load.transport"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := valid()
			tc.change(&p)
			if err := p.Validate(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %v, wanted one that names %s", err, tc.want)
			}
		})
	}
}
