//go:build stores

package zookeeper

import (
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/zookeeper/zookeepertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

var locks = spec.Workload{Type: spec.WorkloadLock, Lock: &spec.Lock{Names: 2}}

// Each lock and each leadership is won and given up, the server counts the same changes, and nothing is left.
func TestContests(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	_, empty := counted(t, server)
	for name, w := range map[string]spec.Workload{"locks": locks, "elections": {Type: spec.WorkloadElection, Election: &spec.Election{Names: 2}}} {
		t.Run(name, func(t *testing.T) {
			updates, _ := counted(t, server)
			snapshots := run(t, planFor([]string{server.Endpoint()}, doing(w), func(p *plan.Plan) {
				// A hand-off between two pods is not measured.
				p.Load.Requests, p.Load.Pods = new(int64(300)), 1
			}))
			sent, _ := requests(snapshots...)
			won, handedOff := uint64(0), uint64(0)
			for _, s := range snapshots {
				for operation, o := range s.Operations {
					if o.Failed.Count() > 0 {
						t.Errorf("%s failed: %v", operation, o.Errors)
					}
					switch {
					case operation.Inner() != "":
						won += o.Latency.Count()
					case operation.IsEvent():
						handedOff += o.Latency.Count()
					}
				}
				if s.Cleaning != results.CleaningKeysDeleted {
					t.Errorf("pod %d ends with %s", s.Index, s.Cleaning)
				}
			}
			if won != 300 || handedOff == 0 || sent[spec.RPCCreate] != won || sent[spec.RPCDelete] != won {
				t.Errorf("won %d of 300, %d after a hand-off: %v", won, handedOff, sent)
			}
			now, nodes := counted(t, server)
			if own := sent[spec.RPCCreate] + sent[spec.RPCDelete] + sent[spec.RPCMulti] + sent[spec.RPCCreateSession] + sent[spec.RPCCloseSession]; now-updates != own {
				t.Errorf("the server counts %d changes, the pods %d: %v", now-updates, own, sent)
			}
			if nodes != empty+outerNodes {
				t.Errorf("wanted %d znodes, found %d", empty+outerNodes, nodes)
			}
		})
	}
}

// One client has a lock at a time. One that gave up waiting leaves no znode, and the end of a session frees its lock.
func TestALockHasOneHolder(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	client := zookeepertest.Client(t, server.Endpoint())
	p := planFor([]string{server.Endpoint()}, doing(locks), func(p *plan.Plan) { p.Load.Pods, p.Load.Connections, p.Load.Clients = 1, 2, 6 })
	d := driverOf(t, p, 0)
	if err := d.Claim(bounded(t)); err != nil {
		t.Fatal(err)
	}
	var all []*contender
	for number := range 6 {
		var shared load.Conn
		if number < 2 {
			opened, err := d.Connect(bounded(t), number)
			if err != nil {
				t.Fatal(err)
			}
			shared = opened
		} else {
			shared = all[number%2].conn
		}
		// All contend for the same name.
		own, err := shared.(load.SharedConn).Client(bounded(t), 2*number)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, own.(*contender))
	}
	do := func(k *contender, operation spec.Operation, limit time.Duration) load.Response {
		var resp load.Response
		k.Do(bounded(t), &load.Request{Operation: operation, Timeout: limit}, &resp)
		return resp
	}
	acquire := func(k *contender, limit time.Duration, code string) {
		t.Helper()
		if resp := do(k, spec.OperationLockAcquire, limit); resp.Code != code {
			t.Fatalf("%s: wanted %q, found %+v", k.mark, code, resp)
		}
	}
	release := func(k *contender, code string) {
		t.Helper()
		if resp := do(k, spec.OperationLockRelease, 10*time.Second); resp.Code != code {
			t.Fatalf("%s: wanted %q, found %+v", k.mark, code, resp)
		}
	}
	queue := func() string { return strings.Join(childrenOf(t, client, all[0].name), " ") }
	first, second, third := all[0], all[1], all[2]
	acquire(first, 10*time.Second, "")
	acquire(second, 300*time.Millisecond, load.CodeDeadlineExceeded)
	if found := queue(); !strings.HasPrefix(found, first.mark) || strings.Contains(found, " ") {
		t.Errorf("wanted one znode, that of %s, found %s", first.mark, found)
	}
	won := make(chan load.Response, 1)
	watches := func() (n uint64) {
		for _, sent := range d.Requests()[spec.RPCGetData] {
			n += sent
		}
		return n
	}
	before := watches()
	go func() { won <- do(third, spec.OperationLockAcquire, 10*time.Second) }()
	// The session of both carries out the watch before the release.
	await(t, bounded(t), func() bool { return watches() > before })
	release(first, "")
	if resp := <-won; resp.Code != "" || resp.InnerSince == 0 {
		t.Errorf("wanted the lock from another client of this pod, found %+v", resp)
	}
	// The session of the first client carries the third one, too.
	go func() { won <- do(second, spec.OperationLockAcquire, 10*time.Second) }()
	await(t, bounded(t), func() bool { return strings.Contains(queue(), second.mark) })
	third.session.close()
	if resp := <-won; resp.Code != "" {
		t.Errorf("wanted the lock of a session that has ended, found %+v", resp)
	}
	if err := client.Delete(second.own, -1); err != nil {
		t.Fatal(err)
	}
	release(second, load.CodeUnavailable)
	// The name of a foreign znode in front can be shorter than those of clients.
	makeNodeAt(t, client, first.name+"/0")
	acquire(second, 300*time.Millisecond, load.CodeDeadlineExceeded)
	if err := client.Delete(first.name+"/0", -1); err != nil {
		t.Fatal(err)
	}
	acquire(second, 10*time.Second, "")
	if cleaning, err := d.Release(bounded(t)); err != nil || cleaning != results.CleaningKeysDeleted {
		t.Errorf("released with %s, %v", cleaning, err)
	}
}
