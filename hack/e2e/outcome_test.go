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

// outcome is the expected outcome of a run. In every case its keys must be deleted, unless left is set, no foreign key
// may change, and nothing of it may remain in Kubernetes.
type outcome struct {
	// reason of Finished=True; empty means that the fault deletes the object.
	reason string
	// says, if set, is a part of the message of Finished.
	says string
	// result is how much of the result must exist.
	result extent
	// reported are the client pods, by index, that survive or end by themselves; their measurements must be in the
	// result.
	reported []int
	// did are those of them that must have completed their part.
	did []int
	// atMost, if set, limits the time from the run's creation to its end.
	atMost time.Duration
	// counted: every pod ends by itself and etcd survives, so status and the members' counters agree.
	counted bool
	// measured, if set, is the exact number of measured requests, including failed ones.
	measured int64
	// failed: some requests must have failed.
	failed bool
	// left: the run's keys cannot be deleted. The message must say so, with the command that deletes them, and with
	// whyLeft.
	left    bool
	whyLeft string
}

// extent is how much of a run's result exists.
type extent int

const (
	// whole: the complete result of every pod.
	whole extent = iota
	// partial: some measurements until the fault, and the statement that a part is missing.
	partial
	// early: the run may end before it has measured anything; if it has, the result is partial.
	early
)

// comparesCounts: if the result is whole but etcd was restarted, the members' counters cannot be compared.
func (want outcome) comparesCounts() bool { return want.counted || want.result != whole }

// requireCounts compares status with the members' counters: they are equal if every pod ended by itself; otherwise the
// members may not have counted less.
func (want outcome) requireCounts(t *testing.T, b *v1alpha1.EtcdBenchmark, rise counters) {
	t.Helper()
	if want.counted {
		requireSameCounts(t, b, rise)
		return
	}
	requireNoMoreCounts(t, b, rise)
}

// requireOutcome waits for the run's end and compares it with the expected outcome.
func requireOutcome(t *testing.T, v victim, want outcome) {
	t.Helper()
	b, before := v.run, int64(0)
	if b.Status.Progress != nil {
		before = b.Status.Progress.Requests
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
	requireResult(t, b, want, before)
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

// requireInTime requires that a run that did not queue finished soon after its time-out.
func requireInTime(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	limit := b.CreationTimestamp.Add(time.Duration(b.Spec.TimeoutSeconds)*time.Second + endsAfterTimeout)
	if finished := b.Status.CompletionTime; finished == nil || finished.After(limit) {
		t.Errorf("wanted Finished within spec.timeoutSeconds and %s, found %v after %v", endsAfterTimeout, finished, b.CreationTimestamp)
	}
}

// requireResult requires the expected extent of the summary, and at least as many requests as status reported before
// the fault.
func requireResult(t *testing.T, b *v1alpha1.EtcdBenchmark, want outcome, before int64) {
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
	if want.result != early && s.MeasuredRequests < max(1, before) {
		t.Errorf("wanted at least one measured request and the %d that status had reported before, found %+v", before, s)
	}
	if want.failed && s.FailedRequests == 0 {
		t.Errorf("wanted some requests to have failed, found %+v", s)
	}
	if want.measured > 0 && s.MeasuredRequests != want.measured {
		t.Errorf("wanted %d requests in the summary, found %+v", want.measured, s)
	}
}

// requireReported requires the numbers of a client pod; if the pod completed its part, it requires all of them.
func requireReported(t *testing.T, b *v1alpha1.EtcdBenchmark, index int, did bool) {
	t.Helper()
	at := slices.IndexFunc(b.Status.Pods, func(p v1alpha1.PodStatus) bool { return int(p.Index) == index })
	if at < 0 {
		t.Errorf("wanted client pod %d in status, found %+v", index, b.Status.Pods)
		return
	}
	p := b.Status.Pods[at]
	if p.Source == "" || p.Source == v1alpha1.SourceNone || p.MeasuredRequests == 0 {
		t.Errorf("wanted client pod %d to have reported what it measured, found %+v", index, p)
	}
	if !did {
		return
	}
	if part := workload.CountModulo(*b.Spec.Load.Requests, int(b.Spec.Load.Pods), index); p.Partial || p.MeasuredRequests != part {
		t.Errorf("wanted client pod %d to have done its part of %d requests, found %+v", index, part, p)
	}
}
