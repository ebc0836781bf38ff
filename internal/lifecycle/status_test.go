package lifecycle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

// TestASummaryLosesNoRequest: results that were in the summary stay in it.
func TestASummaryLosesNoRequest(t *testing.T) {
	run := runtest.Puts()
	var pods []Pod
	for i := range 2 {
		pods = append(pods, Pod{Index: i, Name: string(rune('a' + i)), State: PodRunning, Live: runtest.Measured(i, 50)})
	}
	SetStatus(run, Observed{Pods: pods}, Decision{}, &benchmark.Recent{}, t0)
	pods[1].Live, pods[1].State = nil, PodGone
	for range 2 {
		SetStatus(run, Observed{Pods: pods}, Decision{Finish: &Problem{Reason: v1alpha1.ReasonPodFailed}}, &benchmark.Recent{}, t0)
	}
	if got := run.Status.Summary; got.MeasuredRequests != 100 || !got.Partial || !slices.Equal(got.Warnings[len(got.Warnings)-1:], []string{warningLostDetail}) {
		t.Errorf("wanted the 100 requests from status, marked partial, with a warning, found %+v", got)
	}
}

// TestAWideRunFitsInOneRequest: the API server takes requests of at most 1.5 MB.
func TestAWideRunFitsInOneRequest(t *testing.T) {
	run := runtest.Puts()
	fails := strings.Repeat("etcdserver: mvcc: database space exceeded ", 50)
	pods := make([]Pod, 1000)
	for i := range pods {
		reported := runtest.Measured(i, 50)
		reported.Stage, reported.Failure = results.StageMeasuring, &results.Failure{Reason: results.FailureTargetUnreachable, Message: fails}
		pods[i] = Pod{Index: i, Name: fmt.Sprintf("wide-0123456789ab-%d-abcde", i), State: PodEnded, Final: reported}
	}
	// The objects of the others still say how they ended.
	for i := 750; i < 1000; i++ {
		pods[i].State, pods[i].Unreachable = PodRunning, true
	}
	for i := 900; i < 1000; i++ {
		pods[i].State = PodGone
	}
	// These have left nothing to keep.
	for i := range 10 {
		pods[i].State, pods[i].Final = PodGone, nil
	}
	SetStatus(run, Observed{Pods: pods}, Decision{}, &benchmark.Recent{}, t0)
	var kept []int32
	for i, p := range run.Status.Pods {
		if p.LastResult != "" {
			kept = append(kept, p.Index)
			run.Status.Pods[i].LastResult = strings.Repeat("x", wire.MaxTerminationBytes)
		}
	}
	if len(kept) != mostLastResults || kept[0] != 750 || !slices.Contains(kept, 900) || !slices.Contains(kept, 999) {
		t.Errorf("wanted the results of all pods that are gone, then of those that do not answer, found those of %v", kept)
	}
	// The rest of the largest status has some 100 KB.
	const most = 1_400_000
	whole, err := json.Marshal(run)
	if err != nil || len(whole) > most {
		t.Errorf("wanted at most %d bytes, found %d (%v)", most, len(whole), err)
	}
}

// A replacement of a pod does not inherit the node and the clock offset.
func TestAPodHasNodeAndClockOfItsOwn(t *testing.T) {
	before := v1alpha1.PodStatus{Name: "a", Node: "node-a", ClockOffsetMicroseconds: new(int64(5))}
	for name, known := range map[string]bool{"a": true, "b": false} {
		got := podStatus(before, Pod{Name: name}, false)
		if (got.Node != "") != known || (got.ClockOffsetMicroseconds != nil) != known {
			t.Errorf("pod %s: got %+v, wanted what was known of it: %v", name, got, known)
		}
	}
}

// The pods of a run without a cluster have no objects that could get lost, and their results do not travel.
func TestOnlyPodsWithObjectsAreKept(t *testing.T) {
	for name, inCluster := range map[string]bool{"a": true, "": false} {
		run, pods := runtest.Puts(), []Pod{{Name: name, State: PodEnded, Final: runtest.Measured(0, 50), Source: v1alpha1.SourceScrape}, {Index: 1, State: PodMissing}}
		if name == "" {
			pods[0].Source = ""
		}
		SetStatus(run, Observed{Pods: pods}, Decision{}, &benchmark.Recent{}, t0)
		if got := run.Status.Pods; len(got) != 1 || (got[0].LastResult != "") != inCluster {
			t.Errorf("pod %q: its result is kept for a restart: wanted %v, found %+v", name, inCluster, got)
		}
		SetStatus(run, Observed{Pods: pods}, Decision{Finish: &Problem{Reason: v1alpha1.ReasonCompleted}}, &benchmark.Recent{}, t0)
		if got := run.Status.Pods[0]; (got.Source != "") != inCluster || got.LastResult != "" {
			t.Errorf("pod %q: the way of its result is known: wanted %v, found %+v", name, inCluster, got)
		}
	}
}
