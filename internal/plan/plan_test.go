package plan

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func valid() Plan {
	return Plan{
		Version: Version, RunUID: "0b6c6b52-0000-4000-8000-000000000000", Name: "etcd/write",
		Pods: 3, Prefix: "etcdbench/0b6c6b52/", TimeoutSeconds: 600,
		Target:   Target{Endpoints: []string{"etcd-0.etcd:2379", "[::1]:2379"}, Members: MembersAll},
		Workload: Workload{Type: WorkloadPut, KeySize: 8, ValueSize: 256, KeyCount: 100000, KeyOrder: KeyOrderSequential},
		Load: Load{
			Transport: "ClientV3", Connections: 100, Clients: 1000, Requests: 100000,
			RequestTimeoutSeconds: 10, Seed: 1,
		},
	}
}

func TestDecodeReturnsWhatEncodeWrote(t *testing.T) {
	want := valid()
	data, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("plan changed on its way (-want +got):\n%s", diff)
	}
}

func TestDecodeRefuses(t *testing.T) {
	encoded, err := valid().Encode()
	if err != nil {
		t.Fatal(err)
	}
	text := string(encoded)
	tests := map[string]string{
		"nothing":              "",
		"an unknown field":     strings.Replace(text, `"pods"`, `"fleet": 1, "pods"`, 1),
		"a second document":    text + "{}",
		"a bracket after it":   text + "]",
		"a brace after it":     text + "}",
		"another version":      strings.Replace(text, `"version": 1`, `"version": 2`, 1),
		"an unknown workload":  strings.Replace(text, `"Put"`, `"Watch"`, 1),
		"no slash at the end":  strings.Replace(text, `0b6c6b52/"`, `0b6c6b52"`, 1),
		"an address only":      strings.Replace(text, `etcd-0.etcd:2379`, `etcd-0.etcd`, 1),
		"a port out of range":  strings.Replace(text, `etcd-0.etcd:2379`, `etcd-0.etcd:65536`, 1),
		"more than a document": text + strings.Repeat(" ", MaxBytes),
	}
	for name, data := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := Decode([]byte(data)); err == nil {
				t.Error("decoded without an error")
			}
		})
	}
}

func TestValidateNamesTheField(t *testing.T) {
	tests := map[string]struct {
		change func(*Plan)
		want   string
	}{
		"transport":       {func(p *Plan) { p.Load.Transport = "Carrier" }, "load.transport"},
		"pods":            {func(p *Plan) { p.Pods = 0 }, "pods"},
		"connections":     {func(p *Plan) { p.Load.Connections = 2 }, "load.connections"},
		"clients":         {func(p *Plan) { p.Load.Clients = 99 }, "load.clients"},
		"both bounds":     {func(p *Plan) { p.Load.DurationSeconds = 1 }, "load"},
		"too few":         {func(p *Plan) { p.Load.Requests = 2 }, "load.requests"},
		"key too short":   {func(p *Plan) { p.Workload.KeySize = 4 }, "workload.keySize"},
		"negative value":  {func(p *Plan) { p.Workload.ValueSize = -1 }, "workload.valueSize"},
		"no endpoint":     {func(p *Plan) { p.Target.Endpoints = nil }, "target.endpoints"},
		"control in name": {func(p *Plan) { p.Prefix = "a\n/" }, "prefix"},
		"deep prefix":     {func(p *Plan) { p.Prefix = strings.Repeat("p/", 65) }, "prefix"},
		"a key of all":    {func(p *Plan) { p.Workload.KeySize = math.MaxInt }, "workload.keySize"},
		"all connections": {func(p *Plan) { p.Load.Connections, p.Load.Clients = math.MaxInt, math.MaxInt }, "load.connections"},
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

// Every connection, client and request belongs to exactly one part, whatever
// the number of pods.
func TestPartsAddUpToThePlan(t *testing.T) {
	for pods := 1; pods <= 12; pods++ {
		for connections := pods; connections < pods+14; connections++ {
			p := valid()
			p.Pods, p.Load.Connections, p.Load.Clients = pods, connections, 3*connections+pods
			p.Load.Requests = int64(1000 + connections)
			next, clients, requests := 0, 0, int64(0)
			for i := range pods {
				part, err := p.Part(i)
				if err != nil {
					t.Fatal(err)
				}
				if part.FirstConnection != next || part.Connections < 1 || part.Clients() < part.Connections {
					t.Fatalf("%d pods, %d connections: part %d is %+v, its first connection should be %d", pods, connections, i, part, next)
				}
				next += part.Connections
				clients += part.Clients()
				requests += part.Requests
			}
			if next != connections || clients != p.Load.Clients || requests != p.Load.Requests {
				t.Fatalf("%d pods: parts have %d connections, %d clients, %d requests; the plan has %+v", pods, next, clients, requests, p.Load)
			}
		}
	}
}

func TestPartRefusesAnIndexOutsideThePlan(t *testing.T) {
	for _, index := range []int{-1, 3} {
		if _, err := valid().Part(index); err == nil {
			t.Errorf("index %d of 3 pods was accepted", index)
		}
	}
}
