package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// watching makes a plan of the workload Watch.
func watching(change func(*Plan)) func(*Plan) {
	return func(p *Plan) {
		p.Workload.Type, p.Workload.ValueSize = WorkloadWatch, 16
		p.Workload.Watch = &Watch{Streams: 4, WatchersPerStream: 5}
		change(p)
	}
}

func TestDecodeReturnsAWatch(t *testing.T) {
	want := valid()
	watching(func(p *Plan) {
		p.Workload.Watch.AllKeys, p.Workload.Watch.PrevKV, p.Workload.Watch.Connections = true, true, 4
	})(&want)
	data, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(data)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, plan changed on its way (-want +got):\n%s", err, diff)
	}
	if !got.Workload.PreloadsKeys() {
		t.Error("the keys are not written before, so that events would have no previous value")
	}
}

func TestValidateRefusesAWatch(t *testing.T) {
	tests := map[string]struct {
		change func(*Plan)
		want   string
	}{
		"without its field":      {func(p *Plan) { p.Workload.Type = WorkloadWatch }, "workload.watch"},
		"of another workload":    {func(p *Plan) { p.Workload.Watch = &Watch{Streams: 1, WatchersPerStream: 1} }, "workload.watch"},
		"without streams":        {watching(func(p *Plan) { p.Workload.Watch.Streams = 0 }), "workload.watch.streams"},
		"without watchers":       {watching(func(p *Plan) { p.Workload.Watch.WatchersPerStream = 0 }), "watchersPerStream"},
		"with too many watchers": {watching(func(p *Plan) { p.Workload.Watch.WatchersPerStream = 25_001 }), "watchersPerStream"},
		"with a pod that has no stream": {watching(func(p *Plan) {
			p.Pods, p.Load.Connections, p.Load.Clients = 5, 5, 5
		}), "workload.watch.streams"},
		"with a pod without a carrier": {watching(func(p *Plan) { p.Workload.Watch.Connections = p.Pods - 1 }), "workload.watch.connections"},
		"with a carrier of nothing":    {watching(func(p *Plan) { p.Workload.Watch.Connections = 5 }), "workload.watch.connections"},
		"with values too short":        {watching(func(p *Plan) { p.Workload.ValueSize = 15 }), "workload.valueSize"},
		"with some values too short":   {watching(func(p *Plan) { p.Workload.ValueSize, p.Workload.Values.Spread = 20, 5 }), "workload.valueSize"},
		"over Fast":                    {watching(func(p *Plan) { p.Load.Transport = TransportFast }), "load.transport"},
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

func TestEachStreamBelongsToOnePod(t *testing.T) {
	var all []int
	for index := range 3 {
		own := Part{Index: index, Pods: 3}.Streams(10)
		if len(own) < 3 {
			t.Errorf("pod %d has the streams %v of 10, wanted 3 at least", index, own)
		}
		all = append(all, own...)
	}
	slices.Sort(all)
	if want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}; !slices.Equal(all, want) {
		t.Errorf("the pods have the streams %v, wanted %v", all, want)
	}
}

// Every carrier belongs to exactly one pod, which has a stream for it.
func TestCarriersAddUpToThePlan(t *testing.T) {
	for pods := 1; pods <= 5; pods++ {
		for streams := pods; streams <= 12; streams++ {
			for carriers := pods; carriers <= streams; carriers++ {
				p := valid()
				watching(func(p *Plan) {
					p.Pods, p.Workload.Watch.Streams, p.Workload.Watch.Connections = pods, streams, carriers
				})(&p)
				requireCarriers(t, p)
			}
		}
	}
}

func requireCarriers(t *testing.T, p Plan) {
	t.Helper()
	var all []int
	for i := range p.Pods {
		part, err := p.Part(i)
		if err != nil {
			t.Fatal(err)
		}
		own, streams := part.Carriers(), part.Streams(p.Workload.Watch.Streams)
		if len(own) == 0 || len(own) > len(streams) {
			t.Fatalf("%d pods, %+v: part %d has the carriers %v for the streams %v", p.Pods, p.Workload.Watch, i, own, streams)
		}
		all = append(all, own...)
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) != p.Workload.Watch.Connections {
		t.Fatalf("%d pods, %+v: the parts have the carriers %v", p.Pods, p.Workload.Watch, all)
	}
}
