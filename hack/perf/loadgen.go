package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// The requests of all sides. Our keys have a prefix, so the keys of other tools are that much longer.
const (
	keySize    = 8
	prefixSize = len("etcdbench/00000000/")
	wireKey    = prefixSize + keySize
	valueSize  = 256
	// peerKey is the key that other tools read. It is as long on the wire as ours.
	peerKey = "etcdbench/others00/00000000"

	timeoutSeconds        = 1200
	requestTimeoutSeconds = 30
	// startDelay is how long before a common start loadgen is started, if other processes must know the start.
	startDelay = 2 * time.Second
)

// load describes a load in the terms of a plan.
type load struct {
	transport string
	workload  spec.Workload
	// connections carry clients.
	connections, clients int
	// requests bound the load, or else seconds do.
	requests int64
	seconds  int
	// rate of an open loop; 0 means a closed loop.
	rate int64
}

// total is the number of requests, as far as it is known in advance.
func (l load) total() int64 {
	if l.requests > 0 {
		return l.requests
	}
	return l.rate * int64(l.seconds)
}

func (l load) plan(target plan.Target) plan.Plan {
	uid := rand.Text()
	p := plan.Plan{
		Version: plan.Version, RunUID: uid, Name: "perf/" + l.transport,
		Run: workload.Run{
			Prefix: "etcdbench/" + uid[:8] + "/", Workload: l.workload,
			Load: spec.Load{
				Transport: spec.Transport(l.transport), Pods: 1, Connections: int32(l.connections), Clients: int32(l.clients),
				RequestTimeoutSeconds: requestTimeoutSeconds, Seed: 1,
			},
		},
		Target: target, Guard: spec.Guard{AcceptWrites: true, StopOn: &spec.StopRules{}}, TimeoutSeconds: timeoutSeconds,
	}
	if l.requests > 0 {
		p.Load.Requests = &l.requests
	} else {
		p.Load.DurationSeconds = new(int32(l.seconds))
	}
	if l.rate > 0 {
		p.Load.Rate = &spec.Rate{PerSecond: l.rate, Arrival: spec.ArrivalConstant}
	}
	// The server and its data end with the comparison, but only a transport that needs that keeps its keys.
	p.Ephemeral = !p.Load.Transport.AnyMembers()
	if p.UsesLeases() {
		p.FirstLease = workload.LeaseIDs
	}
	return p
}

// loadgen runs a load with the client pod's own program, without a cluster: it provides the files of a pod and a start
// that has passed, and scrapes the metrics at the end.
func (a *testbed) loadgen(ctx context.Context, l load) (sample, error) {
	return a.loadgenAt(ctx, l, time.Now())
}

func (a *testbed) loadgenAt(ctx context.Context, l load, start time.Time) (sample, error) {
	dir, err := os.MkdirTemp("", "etcdbench-perf-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := writePod(dir, l.plan(a.server.target()), start); err != nil {
		return nil, err
	}
	c := collector{ctx: ctx, dir: dir}
	_, used, err := runWatched(ctx, c.readLog, a.programs.loadgen, "--index=0", "--plan-dir="+dir, "--control-dir="+dir,
		"--termination-file="+filepath.Join(dir, "termination"), "--metrics-address=127.0.0.1:0")
	if err := errors.Join(err, c.err); err != nil {
		return nil, err
	}
	if c.snapshot == nil {
		return nil, errors.New("loadgen ended before its metrics could be read")
	}
	return ourSample(l, used, results.Summarize([]*results.Snapshot{c.snapshot}))
}

func writePod(dir string, p plan.Plan, start time.Time) error {
	text, err := p.Encode()
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, plan.File), text, 0o600),
		os.WriteFile(filepath.Join(dir, plan.StartAtFile), []byte(start.UTC().Format(time.RFC3339Nano)), 0o600),
	)
}

// collector replaces the operator: it reads a pod's metrics once, when the load is done, and then lets the pod end. A
// termination message would be less precise.
type collector struct {
	ctx context.Context
	dir string
	// address of the metrics.
	address  string
	snapshot *results.Snapshot
	err      error
}

// readLog handles a line of the pod's log.
func (c *collector) readLog(line []byte) {
	var said struct{ Msg, Address string }
	if json.Unmarshal(line, &said) != nil {
		return
	}
	switch said.Msg {
	case "serving metrics":
		c.address = said.Address
	case "done":
		c.snapshot, c.err = c.scrape()
		c.err = errors.Join(c.err, os.WriteFile(filepath.Join(c.dir, plan.CollectedFile), []byte("true"), 0o600))
	}
}

func (c *collector) scrape() (*results.Snapshot, error) {
	request, err := http.NewRequestWithContext(c.ctx, http.MethodGet, "http://"+c.address+plan.MetricsPath, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", wire.ScrapeAccept)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return wire.Read(response.Body, response.Header.Get("Content-Type"))
}

func ourSample(l load, used usage, s results.Summary) (sample, error) {
	measured := int64(s.Succeeded + s.Failed + s.Censored)
	if s.Failed > 0 || measured == 0 {
		return nil, fmt.Errorf("loadgen: wanted no failed request, found %d of %d", s.Failed, measured)
	}
	out := sample{}
	out.add(s)
	out.charge(used, measured)
	// Requests that were cut off in flight, or never sent, did not succeed either.
	out[lost] = float64(l.total() - int64(s.Succeeded))
	out[started] = float64(s.Started) / float64(l.total())
	out[perConnection] = float64(used.memoryBytes) / 1024 / float64(l.connections)
	return out, nil
}
