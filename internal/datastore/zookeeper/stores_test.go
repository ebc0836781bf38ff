//go:build stores

package zookeeper

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/zookeeper/zookeepertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Tests against Debian's ZooKeeper.

// together starts all pods at once, when each is ready or has failed.
type together struct {
	all *sync.WaitGroup
	// arrive is called once for each pod.
	arrive func()
}

func (c together) StartAt(ctx context.Context) (time.Time, error) {
	c.arrive()
	c.all.Wait()
	return time.Now(), ctx.Err()
}

func (together) Admitted(context.Context) error { return nil }

func (together) Stopped() <-chan struct{} { return nil }

// begin starts the only part of a plan, and returns a channel for its last snapshot.
func begin(t *testing.T, p plan.Plan) (session *load.Session, done <-chan *results.Snapshot) {
	t.Helper()
	var all sync.WaitGroup
	all.Add(1)
	session, err := load.NewSession(load.Config{Plan: p, Driver: New(p, 0), Control: together{&all, sync.OnceFunc(all.Done)}})
	if err != nil {
		t.Fatal(err)
	}
	last := make(chan *results.Snapshot, 1)
	go func() {
		if err := session.Run(bounded(t)); err != nil {
			t.Error(err)
		}
		last <- session.Snapshot()
	}()
	return session, last
}

// await waits until a condition holds.
func await(t *testing.T, ctx context.Context, is func() bool) {
	t.Helper()
	for ; !is(); pause(ctx) {
		if ctx.Err() != nil {
			t.Fatal(ctx.Err())
		}
	}
}

// run runs all parts of a plan at once and returns their last snapshots.
func run(t *testing.T, p plan.Plan) []*results.Snapshot {
	t.Helper()
	var all sync.WaitGroup
	all.Add(p.Pods())
	snapshots := make([]*results.Snapshot, p.Pods())
	var running sync.WaitGroup
	for i := range p.Pods() {
		control := together{&all, sync.OnceFunc(all.Done)}
		session, err := load.NewSession(load.Config{Plan: p, Index: i, Driver: New(p, i), Control: control})
		if err != nil {
			t.Fatal(err)
		}
		running.Go(func() {
			if err := session.Run(bounded(t)); err != nil {
				t.Errorf("pod %d: %v", i, err)
			}
			control.arrive()
			snapshots[i] = session.Snapshot()
		})
	}
	running.Wait()
	return snapshots
}

// bounded returns a context that ends a test that hangs.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// driverOf returns the driver of a pod, until the test ends.
func driverOf(t *testing.T, p plan.Plan, index int) *Driver {
	t.Helper()
	d := New(p, index)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// requests adds up the requests that pods sent, and the measured requests of the load.
func requests(snapshots ...*results.Snapshot) (sent map[spec.RPC]uint64, measured uint64) {
	sent = map[spec.RPC]uint64{}
	for _, s := range snapshots {
		for rpc, phases := range s.Requests {
			for phase, n := range phases {
				sent[rpc] += n
				if phase == results.PhaseMeasured && rpc == spec.RPCCreate {
					measured += n
				}
			}
		}
	}
	return sent, measured
}

// ended adds up how the measured requests ended.
func ended(snapshots ...*results.Snapshot) (succeeded, failed uint64) {
	for _, s := range snapshots {
		for _, o := range s.Operations {
			succeeded += o.Latency.Count()
			failed += o.Failed.Count()
		}
	}
	return succeeded, failed
}

// counted returns a server's counters: its changes, including sessions, and its znodes.
func counted(t *testing.T, s *zookeepertest.Server) (updates, nodes uint64) {
	t.Helper()
	response, err := http.Get(s.Admin("monitor"))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var found struct {
		Updates uint64 `json:"cnt_updatelatency"`
		Nodes   uint64 `json:"znode_count"`
	}
	if err := json.NewDecoder(response.Body).Decode(&found); err != nil {
		t.Fatal(err)
	}
	return found.Updates, found.Nodes
}

// outerNodes stay after every run: /etcdbench.
const outerNodes = 1

func TestARunIsAccountedForAndLeavesNothing(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	updates, nodes := counted(t, server)
	p := planFor([]string{server.Endpoint()}, func(p *plan.Plan) {
		p.Load.Pods, p.Load.Connections, p.Load.Clients, p.Load.Requests = 3, 6, 24, new(int64(4_001))
	})
	snapshots := run(t, p)
	sent, measured := requests(snapshots...)
	succeeded, failed := ended(snapshots...)
	if measured != 4_001 || sent[spec.RPCCreate] != measured || succeeded != measured || failed != 0 {
		t.Errorf("sent %v, %d of them measured, of which %d succeeded and %d failed; wanted 4001 that succeeded", sent, measured, succeeded, failed)
	}
	updatesNow, nodesNow := counted(t, server)
	own := sent[spec.RPCCreate] + sent[spec.RPCMulti] + sent[spec.RPCCreateSession] + sent[spec.RPCCloseSession]
	if updatesNow-updates != own {
		t.Errorf("the server counts %d changes, the pods %d: %v", updatesNow-updates, own, sent)
	}
	if nodesNow != nodes+outerNodes {
		t.Errorf("wanted %d nodes, found %d", nodes+outerNodes, nodesNow)
	}
	for _, s := range snapshots {
		if s.Cleaning != results.CleaningKeysDeleted || s.Stage != results.StageDone {
			t.Errorf("pod %d ends in %s with %s", s.Index, s.Stage, s.Cleaning)
		}
	}
	target := snapshots[0].Target
	if len(target.Members) != 1 || !strings.HasPrefix(target.Members[0].Version, "3.") || !target.Members[0].Leader {
		t.Errorf("wanted one member with a version that leads, found %+v", target.Members)
	}
}

// A request that waits for a paused server longer than its timeout fails. If the server executes it later, the znode is
// deleted.
func TestAPauseIsCountedAndLeavesNothing(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	_, nodes := counted(t, server)
	p := planFor([]string{server.Endpoint()}, func(p *plan.Plan) {
		p.Load.Requests, p.Load.RequestTimeoutSeconds = new(int64(2_000)), 1
		p.Load.Rate = &spec.Rate{PerSecond: 500, Arrival: spec.ArrivalConstant}
	})
	session, done := begin(t, p)
	ctx := bounded(t)
	await(t, ctx, func() bool { succeeded, _ := ended(session.Snapshot()); return succeeded > 100 })
	resume := server.Pause(t)
	await(t, ctx, func() bool { _, failed := ended(session.Snapshot()); return failed > 0 })
	resume()
	snapshot := <-done
	_, measured := requests(snapshot)
	succeeded, failed := ended(snapshot)
	if failed == 0 || succeeded == 0 || succeeded+failed != measured {
		t.Errorf("%d requests were sent, %d succeeded and %d failed; wanted some of both, and no more", measured, succeeded, failed)
	}
	if _, now := counted(t, server); now != nodes+outerNodes {
		t.Errorf("wanted %d znodes, found %d", nodes+outerNodes, now)
	}
}

// wantReason checks that an error has a reason and contains words.
func wantReason(t *testing.T, err error, reason results.FailureReason, words ...string) {
	t.Helper()
	failure := load.FailureOf(err)
	if failure == nil || failure.Reason != reason {
		t.Fatalf("wanted %s, found %v", reason, err)
	}
	for _, w := range words {
		if !strings.Contains(failure.Message, w) {
			t.Errorf("wanted %q in: %s", w, failure.Message)
		}
	}
}

func makeNodeAt(t *testing.T, client *zk.Conn, path string) {
	t.Helper()
	if _, err := client.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil && err != zk.ErrNodeExists {
		t.Fatalf("creating %s: %v", path, err)
	}
}

func childrenOf(t *testing.T, client *zk.Conn, path string) []string {
	t.Helper()
	children, _, err := client.Children(path)
	if err != nil {
		t.Fatalf("listing %s: %v", path, err)
	}
	slices.Sort(children)
	return children
}

// pause waits between two polls.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(50 * time.Millisecond):
	}
}

// cleanAtOnce cleans as if the pods' signs of life had stood still.
func cleanAtOnce(t *testing.T, d load.Driver) error {
	t.Helper()
	signs, err := d.Signs(bounded(t))
	if err != nil {
		t.Fatal(err)
	}
	return d.Clean(bounded(t), signs)
}
