//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Bounds that hold whatever happens to a run.
const (
	// endsAfterTimeout: a run is finished this long after its spec.timeoutSeconds, at the latest.
	endsAfterTimeout = 60 * time.Second
	// goneWithin bounds the deletion of an object, with room for the test's own waiting.
	goneWithin = 2*time.Minute + 15*time.Second
	// cleanedWithin: a pod that hangs once it has measured is deleted two minutes
	// after the end, and killed when its grace is over; only then its keys can go
	// for good.
	cleanedWithin = 6 * time.Minute
	// faultsAtOnce is as many etcd clusters under load as a small machine takes.
	faultsAtOnce = 5
)

// victim is a run with an etcd of its own, to which something happens.
type victim struct {
	run    *v1alpha1.EtcdBenchmark
	target *etcdCluster
}

// fault is one thing that happens to runs.
type fault struct {
	// start, if set, creates the run, which then brings the fault about by
	// itself; else the run is held in the stage.
	start func(*testing.T, victim)
	// strike makes it happen, and returns when it has.
	strike func(*testing.T, victim)
	// in are the stages in which it happens, with what must come of the run.
	in map[string]outcome
	// members of the run's etcd; zero is one.
	members int
	// etcdFlags are added to its command line.
	etcdFlags []string
	// change, if set, changes the run before it is created.
	change func(*v1alpha1.EtcdBenchmark)
	// secured: the run's etcd asks for certificates, and the run has one.
	secured bool
	// apart: the run lies in another namespace than its etcd.
	apart bool
	// mend, if set, makes it possible again to delete the keys that are left.
	mend func(*testing.T, victim)
}

// outcome is what must come of a run. In every case its keys must go, unless
// that is said to be impossible, no foreign key may change, and nothing may be
// left of it in Kubernetes.
type outcome struct {
	// reason of Finished=True; empty means that the object is deleted by the fault.
	reason string
	// partial: the summary must say that a part is missing. Otherwise every
	// pod's result must be there, whole.
	partial bool
	// counted: every pod ends by itself and etcd lives on, so what status
	// reports is what the members counted.
	counted bool
	// measured, if set, is the exact number of measured requests, failed ones included.
	measured int64
	// failed: some of them must have failed.
	failed bool
	// left: nobody can delete the run's keys, which must be said, with the command
	// that does, and with whyLeft.
	left    bool
	whyLeft string
}

// checkFaults makes every fault happen in each of its stages, several at once.
func checkFaults(t *testing.T) {
	places := make(chan struct{}, faultsAtOnce)
	faults := map[string]fault{}
	for _, some := range []map[string]fault{podFaults(), objectFaults(), targetFaults(), secretFaults(), namespaceFaults()} {
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

// check makes the fault happen to a run of its own in one stage.
func (f fault) check(t *testing.T, name, stage string) {
	want := f.in[stage]
	v := f.prepare(t, strings.ToLower(strings.ReplaceAll(name, " ", "-")+"-"+stage))
	store := putNeighbours(t, v.target, neighbours)
	var before counters
	if want.counted {
		before = mustCounters(t, v.target)
	}
	held := stages()[stage]
	if f.start != nil {
		held = heldStage{start: f.start}
	}
	held.start(t, v)
	f.strike(t, v)
	if held.letGo != nil {
		held.letGo(t, v)
	}
	if want.reason == "" {
		eventually(t, goneWithin, "the object to be gone", func(ctx context.Context) error { return deleted(ctx, v.run) })
	} else {
		requireOutcome(t, v, want)
	}
	if want.counted {
		requireSameCounts(t, v.run, mustCounters(t, v.target).since(before))
	}
	if want.left {
		v.requireLeft(t, want, f.mend)
	} else {
		v.requireCleaned(t, want.reason == "")
	}
	requireStore(t, v.target, store)
	v.requireNothingLeft(t)
	reliability.add(t, name, stage, v.run, want.left)
}

// prepare starts an etcd for the run, and makes the run without creating it.
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
	b.Spec.Load.Rate = &v1alpha1.Rate{PerSecond: 100}
	b.Spec.TimeoutSeconds = 180
	if f.change != nil {
		f.change(b)
	}
	return victim{run: b, target: c}
}

// requireOutcome waits for the run's end and holds it against what is wanted.
func requireOutcome(t *testing.T, v victim, want outcome) {
	t.Helper()
	b := v.run
	eventually(t, finishWithin, "the run to end", func(ctx context.Context) error {
		found, err := get(ctx, b)
		if err != nil {
			return err
		}
		found.DeepCopyInto(b)
		return finishedOrWhyNot(b)
	})
	requireReason(t, b, want.reason)
	limit := b.CreationTimestamp.Add(time.Duration(b.Spec.TimeoutSeconds)*time.Second + endsAfterTimeout)
	if finished := b.Status.CompletionTime; finished == nil || finished.After(limit) {
		t.Errorf("wanted Finished within spec.timeoutSeconds and %s, found %v after %v", endsAfterTimeout, finished, b.CreationTimestamp)
	}
	partial := b.Status.Summary == nil || b.Status.Summary.Partial
	if partial != want.partial {
		t.Errorf("wanted a summary with partial=%t, found %+v", want.partial, b.Status.Summary)
	}
	if want.failed && (b.Status.Summary == nil || b.Status.Summary.FailedRequests == 0) {
		t.Errorf("wanted some requests to have failed, found %+v", b.Status.Summary)
	}
	if want.measured > 0 && (b.Status.Summary == nil || b.Status.Summary.MeasuredRequests != want.measured) {
		t.Errorf("wanted %d requests accounted for, found %+v", want.measured, b.Status.Summary)
	}
}

func finishedOrWhyNot(b *v1alpha1.EtcdBenchmark) error {
	if ended(b) {
		return nil
	}
	return wantReason(b, v1alpha1.ConditionFinished, "True")
}

// requireCleaned wants the run's keys to go, by its own pods or by the cleanup
// Job, which goes on after the end.
func (v victim) requireCleaned(t *testing.T, gone bool) {
	t.Helper()
	eventually(t, cleanedWithin, "the keys to be gone", func(ctx context.Context) error {
		left, err := v.target.store(v.run.KeyPrefix())
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("%d keys are left under %s", len(left), v.run.KeyPrefix())
		}
		return err
	})
	if gone {
		return
	}
	eventually(t, cleanedWithin, "Cleaned to be True", func(ctx context.Context) error {
		found, err := get(ctx, v.run)
		if err != nil {
			return err
		}
		found.DeepCopyInto(v.run)
		if !meta.IsStatusConditionTrue(found.Status.Conditions, v1alpha1.ConditionCleaned) {
			return fmt.Errorf("the conditions are %+v", found.Status.Conditions)
		}
		return nil
	})
}

// requireNothingLeft deletes the object, if it is there, and wants all that
// belonged to it to go.
func (v victim) requireNothingLeft(t *testing.T) {
	t.Helper()
	if err := suite.client.Delete(suite.ctx, v.run.DeepCopy()); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	eventually(t, goneWithin, "nothing of the run to be left", func(ctx context.Context) error {
		if err := deleted(ctx, v.run); err != nil {
			return err
		}
		for _, list := range []client.ObjectList{&batchv1.JobList{}, &corev1.PodList{}, &corev1.ConfigMapList{}} {
			if err := suite.client.List(ctx, list, client.InNamespace(v.run.Namespace), client.MatchingLabels{v1alpha1.LabelRunUID: string(v.run.UID)}); err != nil {
				return err
			}
			if n := meta.LenList(list); n > 0 {
				return fmt.Errorf("%d of %T are left", n, list)
			}
		}
		return nil
	})
}
