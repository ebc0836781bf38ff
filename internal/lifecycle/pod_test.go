package lifecycle

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func TestNewPod(t *testing.T) {
	container := func(s corev1.ContainerState) corev1.PodStatus {
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "injected", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}, {Name: ContainerName, State: s}}}
	}
	waiting := func(reason string) corev1.PodStatus {
		s := container(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "why"}})
		s.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(t0)}}
		return s
	}
	began := metav1.NewTime(t0)
	lostBefore := func(phase corev1.PodPhase) corev1.PodStatus {
		s := container(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}})
		s.ContainerStatuses[1].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "ContainerStatusUnknown"}
		s.Phase = phase
		return s
	}
	tests := map[string]struct {
		status      corev1.PodStatus
		wantState   PodState
		wantStarted bool
		wantStuck   string
		wantExit    string
	}{
		"new":             {corev1.PodStatus{}, PodWaiting, false, "", ""},
		"unschedulable":   {corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/3 nodes"}}}, PodWaiting, false, "Unschedulable 0/3 nodes", ""},
		"creating":        {waiting("ContainerCreating"), PodWaiting, false, "", ""},
		"no image":        {waiting("ErrImagePull"), PodWaiting, false, "ImageUnavailable ErrImagePull: why", ""},
		"no image still":  {waiting("ImagePullBackOff"), PodWaiting, false, "ImageUnavailable ImagePullBackOff: why", ""},
		"wrong settings":  {waiting("CreateContainerConfigError"), PodWaiting, false, "PodFailed CreateContainerConfigError: why", ""},
		"running":         {container(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}), PodRunning, true, "", ""},
		"killed":          {container(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled", StartedAt: began}}), PodEnded, true, "", "ended with exit code 137 (OOMKilled)"},
		"never could run": {container(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 128, Reason: "StartError"}}), PodEnded, false, "", "ended with exit code 128 (StartError)"},
		"lost":            {container(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "ContainerStatusUnknown"}}), PodEnded, true, "", "ended with exit code 137 (ContainerStatusUnknown)"},
		"lost, waiting":   {lostBefore(corev1.PodFailed), PodEnded, true, "", "was ended by the cluster: no reason given"},
		"to run again":    {lostBefore(corev1.PodPending), PodWaiting, true, "", ""},
		"evicted":         {corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "node low on memory"}, PodEnded, false, "", "was ended by the cluster: node low on memory"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := NewPod(&corev1.Pod{Status: tc.status}, func(string) time.Time { return t0 })
			got := ""
			if p.Stuck != nil {
				got = p.Stuck.Reason + " " + p.Stuck.Message
			}
			if p.State != tc.wantState || p.Started != tc.wantStarted || got != tc.wantStuck || p.Exit != tc.wantExit {
				t.Errorf("found state %s, started %v, stuck %q, exit %q", p.State, p.Started, got, p.Exit)
			}
			if certain := name == "killed" || name == "never could run"; p.Exited != certain {
				t.Errorf("its container has certainly ended: %v, wanted %v", p.Exited, certain)
			}
			if strings.HasPrefix(got, "Image") && !p.StuckSeen.Equal(t0) {
				t.Errorf("wanted it stuck since the operator saw it, found %s", p.StuckSeen)
			}
		})
	}
}

// A member is ready without its sampler. A client pod is ready as a whole.
func TestReadyPods(t *testing.T) {
	whole := []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	for name, tc := range map[string]struct {
		status corev1.PodStatus
		want   bool
	}{
		"a client pod":                {corev1.PodStatus{Conditions: whole, ContainerStatuses: []corev1.ContainerStatus{{Name: ContainerName}}}, true},
		"a part of a client pod":      {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: ContainerName, Ready: true}}}, false},
		"a member and no sampler":     {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "sampler"}, {Name: MemberContainerName, Ready: true}}}, true},
		"a sampler, and not a member": {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "sampler", Ready: true}, {Name: MemberContainerName}}}, false},
		"nothing yet":                 {corev1.PodStatus{}, false},
	} {
		if got := NewPod(&corev1.Pod{Status: tc.status}, func(string) time.Time { return t0 }).Ready; got != tc.want {
			t.Errorf("%s: ready %v, wanted %v", name, got, tc.want)
		}
	}
}

func TestAssignPods(t *testing.T) {
	older := Pod{Index: 0, Name: "old", State: PodRunning, Created: t0}
	newer := Pod{Index: 0, Name: "new", State: PodRunning, Created: t0.Add(time.Second)}
	recorded := []v1alpha1.PodStatus{{Index: 0, Name: "old", Node: "n"}}
	start := &metav1.MicroTime{Time: t0}
	tests := map[string]struct {
		status        v1alpha1.EtcdBenchmarkStatus
		found         []Pod
		want          []string
		wantStrangers []string
	}{
		"nothing":                        {v1alpha1.EtcdBenchmarkStatus{}, nil, []string{" Missing", " Missing"}, nil},
		"one":                            {v1alpha1.EtcdBenchmarkStatus{}, []Pod{older}, []string{"old Running", " Missing"}, nil},
		"before the start, newest":       {v1alpha1.EtcdBenchmarkStatus{Pods: recorded}, []Pod{newer, older}, []string{"new Running", " Missing"}, []string{"old"}},
		"after the start, the recorded":  {v1alpha1.EtcdBenchmarkStatus{Pods: recorded, StartAt: start}, []Pod{newer, older}, []string{"old Running", " Missing"}, []string{"new"}},
		"after the start, a substitute":  {v1alpha1.EtcdBenchmarkStatus{Pods: recorded, StartAt: start}, []Pod{newer}, []string{"old Gone", " Missing"}, []string{"new"}},
		"before the start, a substitute": {v1alpha1.EtcdBenchmarkStatus{Pods: recorded}, []Pod{newer}, []string{"old Gone", " Missing"}, []string{"new"}},
		"gone":                           {v1alpha1.EtcdBenchmarkStatus{Pods: recorded}, nil, []string{"old Gone", " Missing"}, nil},
		"gone before it had a node":      {v1alpha1.EtcdBenchmarkStatus{Pods: []v1alpha1.PodStatus{{Index: 0, Name: "old"}}}, nil, []string{" Missing", " Missing"}, nil},
		"no index":                       {v1alpha1.EtcdBenchmarkStatus{}, []Pod{{Index: -1, Name: "x"}, {Index: 2, Name: "y"}}, []string{" Missing", " Missing"}, []string{"x", "y"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			run := newRun(2)
			run.Status = tc.status
			pods, extra := AssignPods(run, tc.found)
			var got, gotStrangers []string
			for _, p := range pods {
				got = append(got, p.Name+" "+string(p.State))
			}
			for _, p := range extra {
				gotStrangers = append(gotStrangers, p.Name)
			}
			if diff := cmp.Diff(tc.want, got) + cmp.Diff(tc.wantStrangers, gotStrangers); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestChoosePrefersTheScrape(t *testing.T) {
	final, message := &results.Snapshot{Stage: results.StageDone}, &results.Snapshot{Stage: results.StageDone}
	open, cleaning := &results.Snapshot{Stage: results.StageMeasuring}, &results.Snapshot{Stage: results.StageCleaning}
	cut := &results.Snapshot{Stage: results.StageDraining}
	tests := map[string]struct {
		live, message, wantFinal *results.Snapshot
		wantVia                  v1alpha1.ResultSource
	}{
		"both":                   {final, message, final, v1alpha1.SourceScrape},
		"message only":           {nil, message, message, v1alpha1.SourceTerminationMessage},
		"old scrape and message": {open, message, message, v1alpha1.SourceTerminationMessage},
		"died deleting keys":     {cleaning, cut, cleaning, v1alpha1.SourceScrape},
		"ended after a scrape":   {cleaning, message, message, v1alpha1.SourceTerminationMessage},
		"old scrape only":        {open, nil, nil, ""},
		"killed deleting keys":   {cleaning, nil, cleaning, v1alpha1.SourceScrape},
		"nothing":                {nil, nil, nil, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := Pod{State: PodEnded}
			p.Choose(tc.live, tc.message)
			if p.Final != tc.wantFinal || p.Source != tc.wantVia {
				t.Errorf("wanted the result via %q, found %q", tc.wantVia, p.Source)
			}
		})
	}
}

func TestIndexOf(t *testing.T) {
	p := &corev1.Pod{}
	if i := IndexOf(p); i != -1 {
		t.Errorf("wanted -1 for a pod without an index, found %d", i)
	}
	p.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: "7"}
	if i := IndexOf(p); i != 7 {
		t.Errorf("wanted 7, found %d", i)
	}
}
