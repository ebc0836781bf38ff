//go:build guard

package guard

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// recorder is a driver without a target: it writes down each request of the load.
type recorder struct {
	mutex sync.Mutex
	lines []string
}

func (r *recorder) Preflight(context.Context) (*results.Target, members.View, error) {
	return &results.Target{ClusterID: "1"}, members.View{At: time.Now()}, nil
}
func (r *recorder) Connect(context.Context, int) (load.Conn, error) { return &recording{r}, nil }
func (r *recorder) Claim(context.Context) error                     { return nil }
func (r *recorder) Release(context.Context) (results.Cleaning, error) {
	return results.CleaningKeysDeleted, nil
}
func (r *recorder) Sample(context.Context) map[string]members.Sample           { return nil }
func (r *recorder) Disturb(context.Context, plan.Disturbance, func(load.Step)) {}
func (r *recorder) View(context.Context) members.View                          { return members.View{At: time.Now()} }
func (r *recorder) Requests() map[results.RPC]map[results.Phase]uint64         { return nil }
func (r *recorder) Close() error                                               { return nil }

type recording struct{ recorder *recorder }

var (
	_ load.WatchConn  = (*recording)(nil)
	_ load.ReplayConn = (*recording)(nil)
)

func (c *recording) Watch(_ context.Context, watchers []load.Watcher, _ load.Audience) error {
	for _, w := range watchers {
		c.recorder.add(fmt.Sprintf("watch %q %q %v %v", w.Key, w.End, w.PrevKV, w.Reflect))
	}
	return nil
}

func (c *recording) Replay(_ context.Context, watchers int, h load.History, _ load.ReplayAudience) {
	c.recorder.add(fmt.Sprintf("replay %d %q", watchers, h.Key))
}

func (c *recording) Do(ctx context.Context, req *load.Request, resp *load.Response) {
	c.recorder.add(string(load.PhaseOf(ctx)) + " " + describe(req))
	*resp = load.Response{Sent: load.Now(), Received: load.Now(), Revision: 1}
}

func (r *recorder) add(line string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.lines = append(r.lines, line)
}

// describe writes a request with the hash of what it writes.
func describe(req *load.Request) string {
	line := fmt.Sprintf("%s key=%q end=%q value=%s", req.Operation, req.Key, req.End, digest(req.Value))
	for i, p := range req.Pairs {
		line += fmt.Sprintf(" %q=%s/%v", p.Key, digest(p.Value), i < req.Writes)
	}
	return line + fmt.Sprintf(" lease=%x ttl=%d create=%v expires=%v limit=%d keysOnly=%v countOnly=%v page=%d stream=%v keys=%d serializable=%v inTransaction=%v timeout=%v",
		req.Lease, req.TTLSeconds, req.Create, req.Expires, req.Limit, req.KeysOnly, req.CountOnly, req.PageKeys, req.Stream, req.Keys, req.Serializable, req.InTransaction, req.Timeout)
}

func digest(b []byte) string { return fmt.Sprintf("%d:%x", len(b), sha256.Sum256(b))[:20] }

// requestsOf runs the first pod's part of a plan against the recorder, with one
// client in a closed loop.
func requestsOf(t *testing.T, p plan.Plan) string {
	t.Helper()
	p.AwaitTurn, p.TimeoutSeconds = false, 600
	p.Load.Connections, p.Load.Clients = p.Pods, p.Pods
	p.Load.DurationSeconds, p.Load.Stages, p.Load.RatePerSecond, p.Load.Poisson, p.Load.WarmupSeconds = 0, nil, 0, false, 0
	p.Load.Requests = 400
	p.Disturbances = nil
	if !p.UsesLeases() {
		p.FirstLease = 0
	}
	if p.Workload.Contest != nil {
		p.Workload.Contest.Names, p.Workload.Contest.HoldMilliseconds = 1, 0
	}
	if p.Workload.KeyCount > 2000 {
		p.Workload.KeyCount = 2000
	}
	if p.Workload.Interval.Keys > 1000 {
		p.Workload.Interval.Keys = 1000
	}
	if w := p.Workload.Watch; w != nil {
		w.Connections = 0
	}
	if w := p.Workload.WatchGet; w != nil {
		w.Connections = 0
	}
	if l := p.Workload.Lease; l != nil && l.Count > 500 {
		l.Count = 500
	}
	r := &recorder{}
	s, err := load.NewSession(load.Config{Plan: p, Index: 0, Driver: r, Control: control{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return strings.Join(r.lines, "\n") + "\n"
}

// control starts a session at once.
type control struct{}

func (control) StartAt(context.Context) (time.Time, error) { return time.Now(), nil }
func (control) Turn(context.Context) error                 { return nil }
func (control) Stopped() <-chan struct{}                   { return nil }
