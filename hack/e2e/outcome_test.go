//go:build e2e

package e2e

import (
	"context"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// outcome is what must come of a run. In every case its keys must go, unless
// that is said to be impossible, no foreign key may change, and nothing may be
// left of it in Kubernetes.
type outcome struct {
	// reason of Finished=True; empty means that the object is deleted by the fault.
	reason string
	// says, if set, is in the message of Finished.
	says string
	// result is how much of it must be there.
	result extent
	// reported are the client pods, by index, that live on or end by themselves:
	// what they measured must have come.
	reported []int
	// did are those of them that must have done all their part.
	did []int
	// atMost, if set, is how long after its creation the run has ended.
	atMost time.Duration
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

// extent is how much of a run's result is there.
type extent int

const (
	// whole: every pod's result, whole.
	whole extent = iota
	// partial: what was measured until the fault, which must be something, and
	// that a part is missing.
	partial
	// early: the run is over before it need have measured anything; if it has,
	// that is partial.
	early
)

// comparesCounts: where the whole result is wanted of a run whose etcd was hurt,
// what the members counted since they were restarted says nothing.
func (want outcome) comparesCounts() bool { return want.counted || want.result != whole }

// requireCounts holds what status reports against what the members counted: the
// same if every pod ended by itself, and else no more than that.
func (want outcome) requireCounts(t *testing.T, b *v1alpha1.EtcdBenchmark, rise counters) {
	t.Helper()
	if want.counted {
		requireSameCounts(t, b, rise)
		return
	}
	requireNoMoreCounts(t, b, rise)
}

// requireOutcome waits for the run's end and holds it against what is wanted.
func requireOutcome(t *testing.T, v victim, want outcome) {
	t.Helper()
	b, told := v.run, int64(0)
	if b.Status.Progress != nil {
		told = b.Status.Progress.Requests
	}
	eventually(t, finishWithin, "the run to end", func(ctx context.Context) error {
		found, err := get(ctx, b)
		if err != nil {
			return err
		}
		found.DeepCopyInto(b)
		return finishedOrWhyNot(b)
	})
	requireReason(t, b, want.reason)
	if missing := containsAll(meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionFinished).Message, []string{want.says}); missing != nil {
		t.Error(missing)
	}
	requireInTime(t, b)
	if took := b.Status.CompletionTime.Sub(b.CreationTimestamp.Time); want.atMost > 0 && took > want.atMost {
		t.Errorf("wanted the run to end within %s of its creation, found %s", want.atMost, took)
	}
	requireResult(t, b, want, told)
	for _, index := range want.reported {
		requireReported(t, b, index, slices.Contains(want.did, index))
	}
}

func finishedOrWhyNot(b *v1alpha1.EtcdBenchmark) error {
	if ended(b) {
		return nil
	}
	return wantReason(b, v1alpha1.ConditionFinished, "True")
}

// requireInTime wants a run that did not queue to have finished soon after its
// time-out.
func requireInTime(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	limit := b.CreationTimestamp.Add(time.Duration(b.Spec.TimeoutSeconds)*time.Second + endsAfterTimeout)
	if finished := b.Status.CompletionTime; finished == nil || finished.After(limit) {
		t.Errorf("wanted Finished within spec.timeoutSeconds and %s, found %v after %v", endsAfterTimeout, finished, b.CreationTimestamp)
	}
}

// requireResult wants the summary to have what is wanted, and no fewer requests
// than status had told of before the fault.
func requireResult(t *testing.T, b *v1alpha1.EtcdBenchmark, want outcome, told int64) {
	t.Helper()
	s := b.Status.Summary
	if s == nil {
		if want.result != early {
			t.Errorf("wanted a summary, found none")
		}
		return
	}
	if s.Partial != (want.result != whole) {
		t.Errorf("wanted a summary with partial=%t, found %+v", want.result != whole, s)
	}
	if want.result != early && s.MeasuredRequests < max(1, told) {
		t.Errorf("wanted at least one measured request and the %d that status had told of, found %+v", told, s)
	}
	if want.failed && s.FailedRequests == 0 {
		t.Errorf("wanted some requests to have failed, found %+v", s)
	}
	if want.measured > 0 && s.MeasuredRequests != want.measured {
		t.Errorf("wanted %d requests accounted for, found %+v", want.measured, s)
	}
}

// requireReported wants the numbers of a client pod to have come, and, if it did
// all its part, every one of them.
func requireReported(t *testing.T, b *v1alpha1.EtcdBenchmark, index int, did bool) {
	t.Helper()
	at := slices.IndexFunc(b.Status.Pods, func(p v1alpha1.PodStatus) bool { return int(p.Index) == index })
	if at < 0 {
		t.Errorf("wanted client pod %d in status, found %+v", index, b.Status.Pods)
		return
	}
	p := b.Status.Pods[at]
	if p.Road == "" || p.Road == v1alpha1.RoadNone || p.MeasuredRequests == 0 {
		t.Errorf("wanted client pod %d to have reported what it measured, found %+v", index, p)
	}
	if !did {
		return
	}
	if part := workload.CountModulo(*b.Spec.Load.Requests, int(b.Spec.Load.Pods), index); p.Partial || p.MeasuredRequests != part {
		t.Errorf("wanted client pod %d to have done its part of %d requests, found %+v", index, part, p)
	}
}
