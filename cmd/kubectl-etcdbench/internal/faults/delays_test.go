package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// delayed is a gRPC server in front of an etcd. It answers the reads of a run's load itself, each after a delay from a
// seeded list, and logs how long it took. It forwards everything else.
type delayed struct {
	prefix  string
	address string

	mutex sync.Mutex
	list  *rand.Rand
	took  []time.Duration
}

// startDelayed serves at a free port until the test ends.
func startDelayed(t *testing.T, upstream, prefix string) *delayed {
	t.Helper()
	d := &delayed{prefix: prefix, list: rand.New(rand.NewPCG(1, 2))}
	d.address = etcdtest.StartProxy(t, upstream, d.handle)
	return d
}

func (d *delayed) handle(_ context.Context, method string, in []byte, forward func() ([]byte, error)) ([]byte, error) {
	key, ok := loadKey(d.prefix, method, in)
	if !ok {
		return forward()
	}
	began := time.Now()
	<-time.After(d.next())
	defer func() { d.log(time.Since(began)) }()
	response := &pb.RangeResponse{Header: &pb.ResponseHeader{Revision: 1}, Kvs: []*mvccpb.KeyValue{{Key: key, Value: []byte("v")}}, Count: 1}
	return proto.Marshal(response)
}

// loadKey returns the key of a read by the load, the first one of a listing. Its keys begin with a digit after the prefix.
func loadKey(prefix, method string, in []byte) (key []byte, ok bool) {
	request := &pb.RangeRequest{}
	if method != "/etcdserverpb.KV/Range" || proto.Unmarshal(in, request) != nil {
		return nil, false
	}
	rest, ok := bytes.CutPrefix(request.Key, []byte(prefix))
	return request.Key, ok && len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9'
}

// next is 5 ms for 90 % of the reads, and 200 ms for the others.
func (d *delayed) next() time.Duration {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.list.IntN(10) == 0 {
		return longDelay
	}
	return shortDelay
}

func (d *delayed) log(took time.Duration) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.took = append(d.took, took)
}

// percentile of the log, by nearest rank.
func (d *delayed) percentile(percent int) time.Duration {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	sorted := slices.Sorted(slices.Values(d.took))
	return sorted[max((percent*len(sorted)+99)/100-1, 0)]
}

// startNow is load.Control for a run without an operator.
type startNow struct{}

func (startNow) StartAt(ctx context.Context) (time.Time, error) { return time.Now(), ctx.Err() }
func (startNow) Admitted(context.Context) error                 { return nil }
func (startNow) Stopped() <-chan struct{}                       { return nil }

// attempts is how often a test of exact times may try. Other processes on the machine can only add to a time, so one exact
// attempt shows that the measurement is right, and a wrong one fails every time.
const attempts = 5

// once wants one attempt without an error. Before it repeats one, it waits for a quiet machine.
func once(t *testing.T, attempt func(last bool) error) {
	t.Helper()
	var errs []error
	for i := range attempts {
		if i > 0 {
			if _, err := awaitQuiet(waitsAgain); err != nil {
				t.Fatal(err)
			}
		}
		err := attempt(i == attempts-1)
		if err == nil {
			return
		}
		errs = append(errs, err)
	}
	t.Error(errors.Join(errs...))
}

// 90 % of the reads take 5 ms and the others 200 ms. The percentiles on both sides of the step come back, on each
// transport and in both kinds of load.
func TestAloneKnownDelaysComeBack(t *testing.T) {
	cluster := start(t, fault{})
	for _, transport := range []spec.Transport{spec.TransportClient, spec.TransportFast} {
		for name, rate := range map[string]*spec.Rate{"closed loop": nil, "open loop": {PerSecond: 400, Arrival: spec.ArrivalConstant}} {
			t.Run(string(transport)+", "+name, func(t *testing.T) {
				once(t, func(last bool) error {
					prefix := "etcdbench/" + string(transport) + strings.Fields(name)[0] + "/"
					target := startDelayed(t, cluster.endpoints[0], prefix)
					got := readDelayed(t, target, prefix, transport, rate)
					if n := uint64(len(target.took)); got.Count() != n || n != reads {
						t.Fatalf("measured %d reads, the target answered %d, wanted %d", got.Count(), n, reads)
					}
					return compare(got, target, last)
				})
			})
		}
	}
}

// shortDelay and longDelay are the known delays. On an idle machine the timers of the target are late by up to
// timerError.
const (
	shortDelay = 5 * time.Millisecond
	longDelay  = 200 * time.Millisecond
	timerError = 1500 * time.Microsecond
)

// compare wants percentiles of at most 1 ms more than the target's log has. A machine can be busy or slow to wake in all
// attempts: then the target's own timers are late, and the threads of the load generator in the same way. The log has the
// lateness of the timers, and not that of the two threads that read a request and its response. So the last attempt allows
// as much more as the timers are late, and ten times as much more as they are later than timerError. A percentile must
// never be less than the log's.
func compare(got *results.Histogram, target *delayed, last bool) error {
	allowed := time.Millisecond
	if last {
		late := target.percentile(89) - shortDelay
		allowed += max(late, 10*(late-timerError))
	}
	// The fastest requests were not delayed by the machine: they are exact in all attempts.
	if fastest, want := got.Min(), target.percentile(0); fastest > want+time.Millisecond {
		return fmt.Errorf("the shortest latency is %v, and %v by the target's log: wanted at most 1 ms more", fastest, want)
	}
	for _, percent := range []int{50, 89, 91, 99} {
		want := target.percentile(percent)
		p, _ := got.Quantile(float64(percent) / 100)
		if p < want-want*3/1000 || p > want+allowed {
			return fmt.Errorf("p%d is %v, and %v by the target's log: wanted at most 0.3 %% less and %v more", percent, p, want, allowed)
		}
	}
	return nil
}

// reads is enough for a 99th percentile.
const reads = 1000

// readDelayed runs the reads by 20 clients and returns their latencies.
func readDelayed(t *testing.T, target *delayed, prefix string, transport spec.Transport, rate *spec.Rate) *results.Histogram {
	t.Helper()
	session := newSession(t, target.address, prefix, func(l *spec.Load) {
		l.Transport, l.Clients, l.Requests, l.Rate = transport, 20, new(int64(reads)), rate
	})
	if err := session.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &session.Snapshot().Operations[spec.OperationRange].Latency
}

// newSession is a load of reads without an operator.
func newSession(t *testing.T, endpoint, prefix string, change func(*spec.Load)) *load.Session {
	t.Helper()
	p := plan.Plan{
		Version: plan.Version, RunUID: "11112222-3333-4444-5555-666677778888", Name: "default/reads", TimeoutSeconds: 60,
		Run: workload.Run{
			Prefix: prefix,
			Workload: spec.Workload{Type: spec.WorkloadRange, Range: &spec.Range{
				Keys:   spec.Keys{Count: 100, SizeBytes: 8, Distribution: spec.Uniform},
				Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 1}, KeysPerRequest: 1, Consistency: spec.Linearizable, Delivery: spec.DeliveryWhole,
			}},
			Load: spec.Load{Pods: 1, Connections: 4, RequestTimeoutSeconds: 10, Seed: 1},
		},
		Target: plan.Target{Datastore: spec.Etcd, Endpoints: []string{endpoint}, Members: spec.MembersAll},
		Guard:  spec.Guard{AcceptWrites: true, StopOn: &spec.StopRules{}},
	}
	change(&p.Load)
	session, err := load.NewSession(load.Config{Plan: p, Driver: etcd.New(p, 0), Control: startNow{}})
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// In a closed loop each client has one request in flight when the target stops for a second. Nothing else is slow, and
// the timeline has no response for about a second.
func TestAloneAStallOfAClosedLoop(t *testing.T) {
	t.Parallel()
	cluster := start(t, fault{})
	for _, transport := range []spec.Transport{spec.TransportClient, spec.TransportFast} {
		t.Run(string(transport), func(t *testing.T) {
			once(t, func(bool) error { return stall(t, cluster, transport) })
		})
	}
}

func stall(t *testing.T, c *cluster, transport spec.Transport) error {
	t.Helper()
	const clients = 10
	session := newSession(t, c.endpoints[0], "etcdbench/stall/", func(l *spec.Load) {
		l.Transport, l.Clients, l.DurationSeconds = transport, clients, new(int32(4))
	})
	ended := make(chan error, 1)
	go func() { ended <- session.Run(t.Context()) }()
	for session.Stage() != results.StageMeasuring {
		select {
		case err := <-ended:
			t.Fatalf("the run ended early: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	<-time.After(time.Second)
	c.signal(t, syscall.SIGSTOP, 0)
	<-time.After(time.Second)
	c.signal(t, syscall.SIGCONT, 0)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	s := session.Snapshot()
	if slow, _ := s.Operations[spec.OperationRange].Latency.Over(900 * time.Millisecond); slow != clients {
		return fmt.Errorf("%d requests took over 0.9 s, wanted %d, one of each client", slow, clients)
	}
	silent := 0
	for _, p := range s.Timeline.Points {
		if p.Succeeded == 0 {
			silent++
		}
	}
	if stalled := time.Duration(silent) * s.Timeline.Interval; stalled < 800*time.Millisecond || stalled > 2*time.Second {
		return fmt.Errorf("for %v the timeline has no response, wanted about a second", stalled)
	}
	return nil
}
