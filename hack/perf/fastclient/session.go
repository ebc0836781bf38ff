package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// driver is a load.Driver that checks and cleans nothing.
type driver struct {
	client    *fast.Client
	endpoints []string
	started   chan<- struct{}
}

func (d *driver) Preflight(context.Context) (*results.Target, error) { return &results.Target{}, nil }

func (d *driver) Connect(ctx context.Context, i int) (load.Conn, error) {
	conn, err := d.client.Connect(ctx, d.endpoints[i%len(d.endpoints)], i)
	if err != nil || !*blocking {
		return conn, err
	}
	return struct{ load.Conn }{conn}, nil
}

func (d *driver) Claim(context.Context) error { return nil }

func (d *driver) Release(context.Context) (results.Cleaning, error) {
	return results.CleaningNothingWritten, nil
}
func (d *driver) Sample(context.Context) map[string]int64 { return nil }
func (d *driver) Requests() map[results.RPC]map[results.Phase]uint64 {
	return d.client.Requests()
}
func (d *driver) Close() error { d.client.Close(); return nil }

// now is a load.Control that starts at once.
type now struct{ started time.Duration }

func (n *now) StartAt(context.Context) (time.Time, error) {
	n.started = cpu()
	return time.Now(), nil
}
func (n *now) Stopped() <-chan struct{} { return nil }

// session loads through the engine.
func session(client *fast.Client) {
	p := plan.Plan{
		Version: plan.Version, RunUID: "perf", Name: "perf", Pods: 1, Prefix: "perf/", TimeoutSeconds: 600,
		Target:   plan.Target{Endpoints: strings.Split(*endpoints, ","), Members: plan.MembersAll},
		Workload: plan.Workload{Type: plan.WorkloadRange, Serializable: true, KeySize: 8, ValueSize: *valueSize, KeyCount: 1, KeyOrder: plan.KeyOrderSequential},
		Load:     plan.Load{Transport: "Fast", Connections: *conns, Clients: *clients, Requests: *total, RequestTimeoutSeconds: 10, RatePerSecond: *rate},
	}
	if *put {
		p.Workload.Type, p.Workload.KeyCount = plan.WorkloadPut, *total
	}
	start := &now{}
	s, err := load.NewSession(load.Config{
		Plan: p, Control: start, Driver: &driver{client: client, endpoints: p.Target.Endpoints},
	})
	check(err)
	check(s.Run(context.Background()))
	used := cpu() - start.started
	snapshot := s.Snapshot()
	op := snapshot.Operations[results.OperationRange]
	if *put {
		op = snapshot.Operations[results.OperationPut]
	}
	window := snapshot.Window.End.Sub(snapshot.Window.Start).Seconds()
	fmt.Printf("requests %d failed %v rate %.0f/s cpu %.2f us/request service p50 %v p99 %v latency p99 %v lateness p99 %v sent %v\n",
		op.Latency.Count(), op.Errors, float64(op.Latency.Count())/window, float64(used.Microseconds())/float64(*total),
		quantile(op.Service, 0.5), quantile(op.Service, 0.99), quantile(op.Latency, 0.99), quantile(op.Lateness, 0.99), snapshot.Requests)
}

func quantile(h results.Histogram, q float64) time.Duration {
	d, _ := h.Quantile(q)
	return d
}
