//go:build e2e

package e2e

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Bounds that hold for every fault.
const (
	// endsAfterTimeout is how long after spec.timeoutSeconds a run is finished at the latest.
	endsAfterTimeout = 60 * time.Second
	// goneWithin bounds the deletion of an object, including the test's own waiting.
	goneWithin = 2*time.Minute + 15*time.Second
	// cleanedWithin: a pod that hangs after measuring is deleted two minutes after the end, and killed after its grace
	// period. Only then can its keys be deleted for good.
	cleanedWithin = 6 * time.Minute
	// faultsAtOnce is the number of etcd clusters under load that a small machine can run.
	faultsAtOnce = 5
)

// victim is a run that a fault affects.
type victim struct {
	run    *v1alpha1.EtcdBenchmark
	target *etcdCluster
	// before is the content of its etcd before the run, without the keys of other runs.
	before map[string]entry
}

// fault is one kind of fault.
type fault struct {
	// start, if set, creates the run, which then causes the fault by itself; otherwise the run is kept in the stage.
	start func(*testing.T, victim)
	// inject causes the fault, and returns when it has happened.
	inject func(*testing.T, victim)
	// in are the stages in which the fault happens, each with the expected outcome.
	in map[string]outcome
	// members of the run's etcd; 0 means one.
	members int
	// etcdFlags are added to its command line.
	etcdFlags []string
	// change, if set, changes the run before it is created.
	change func(*v1alpha1.EtcdBenchmark)
	// secured: the run's etcd requires certificates, and the run has one.
	secured bool
	// apart: the run lies in another namespace than its etcd.
	apart bool
	// repair, if set, makes the deletion of the remaining keys possible again.
	repair func(*testing.T, victim)
}

// checkFaults causes every fault in each of its stages, several at once.
func checkFaults(t *testing.T) {
	places := make(chan struct{}, faultsAtOnce)
	faults := map[string]fault{}
	for _, some := range []map[string]fault{podFaults(), lossFaults(), objectFaults(), targetFaults(), refusalFaults(), secretFaults(), namespaceFaults()} {
		maps.Copy(faults, some)
	}
	for _, name := range slices.Sorted(maps.Keys(faults)) {
		f := faults[name]
		for _, stage := range slices.Sorted(maps.Keys(f.in)) {
			t.Run(name+"/"+stage, func(t *testing.T) {
				t.Parallel()
				places <- struct{}{}
				defer func() { <-places }()
				f.check(t, name, stage)
			})
		}
	}
}

// check causes the fault for a new run in one stage.
func (f fault) check(t *testing.T, name, stage string) {
	want := f.in[stage]
	v := f.prepare(t, strings.ToLower(strings.ReplaceAll(name, " ", "-")+"-"+stage))
	v.before = putNeighbours(t, v.target, neighbours)
	var handled counters
	if want.comparesCounts() {
		handled = mustCounters(t, v.target)
	}
	pinned := stages()[stage]
	if f.start != nil {
		pinned = pinnedStage{start: f.start}
	}
	pinned.start(t, v)
	f.inject(t, v)
	if pinned.resume != nil {
		pinned.resume(t, v)
	}
	if want.reason == "" {
		eventually(t, goneWithin, "the object to be gone", func(ctx context.Context) error { return deleted(ctx, v.run) })
	} else {
		requireOutcome(t, v, want)
	}
	if want.comparesCounts() {
		want.requireCounts(t, v.run, mustCounters(t, v.target).since(handled))
	}
	if want.left {
		v.requireLeft(t, want, f.repair)
	} else {
		v.requireCleaned(t, want.reason == "")
	}
	requireStore(t, v.target, v.before)
	v.requireNothingLeft(t)
	reliability.add(t, name, stage, v.run, want.left)
}

// prepare starts an etcd for the run, and builds the run without creating it.
func (f fault) prepare(t *testing.T, name string) victim {
	t.Helper()
	c := &etcdCluster{namespace: namespace(t, name), members: max(1, f.members), extra: f.etcdFlags, small: true}
	b := newPut(c, "victim", 3000)
	if f.secured {
		secure(t, c, b)
	}
	if f.apart {
		b.Namespace = namespace(t, name+"-apart")
	}
	if err := suite.startEtcd(c); err != nil {
		t.Fatal(err)
	}
	eventually(t, 2*time.Minute, "etcd to be ready", c.ready)
	b.Spec.Load.Rate = &spec.Rate{PerSecond: 100}
	b.Spec.TimeoutSeconds = 180
	if f.change != nil {
		f.change(b)
	}
	return victim{run: b, target: c}
}
