//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

const (
	timedRounds = 10
	timedPods   = int32(3)
)

// checkTimes alternates between a run and a bare Indexed Job of the same image and number of pods, and logs the time
// that the operator adds. It fails if something ends wrongly, never because it was slow.
func checkTimes(t *testing.T) {
	ns := namespace(t, "times")
	times := map[string][]time.Duration{}
	for round := range timedRounds {
		sides := []func(*testing.T, string, int, map[string][]time.Duration){timeBareJob, timeRun}
		if round%2 == 1 {
			slices.Reverse(sides)
		}
		for _, side := range sides {
			side(t, ns, round, times)
		}
	}
	for _, what := range []string{bareFirstLine, runFirstRequest, runSummary, runSkew} {
		values := slices.Sorted(slices.Values(times[what]))
		t.Logf("| %s | median %.3f s | min %.3f s | max %.3f s |", what, values[len(values)/2].Seconds(), values[0].Seconds(), values[len(values)-1].Seconds())
	}
}

// The measured times, with their names in docs/performance.md.
const (
	bareFirstLine   = "`apply` → first line of a bare Indexed Job"
	runFirstRequest = "`apply` → first request of the run"
	runSummary      = "last response → summary in status"
	runSkew         = "start skew between pods on one node"
)

// timeBareJob times a Job whose pods print one line each.
func timeBareJob(t *testing.T, ns string, round int, times map[string][]time.Duration) {
	t.Helper()
	job := bareJob(ns, fmt.Sprintf("bare-%d", round))
	applied := time.Now()
	if err := suite.client.Create(suite.ctx, job); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, "the bare Job", func(ctx context.Context) error {
		err := suite.client.Get(ctx, client.ObjectKeyFromObject(job), job)
		if err == nil && job.Status.Succeeded < timedPods {
			err = fmt.Errorf("%d of %d pods have succeeded", job.Status.Succeeded, timedPods)
		}
		return err
	})
	times[bareFirstLine] = append(times[bareFirstLine], firstLine(t, job).Sub(applied))
	if err := suite.client.Delete(suite.ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
		t.Fatal(err)
	}
}

func bareJob(ns, name string) *batchv1.Job {
	count, indexed := timedPods, batchv1.IndexedCompletion
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		Spec: batchv1.JobSpec{
			Parallelism: &count, Completions: &count, CompletionMode: &indexed,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "bare", Image: suite.image, Command: []string{"/loadgen", "--version"}}},
			}},
		},
	}
}

// firstLine returns when the container runtime received the first line of any pod.
func firstLine(t *testing.T, job *batchv1.Job) time.Time {
	t.Helper()
	var pods corev1.PodList
	if err := suite.client.List(suite.ctx, &pods, client.InNamespace(job.Namespace), client.MatchingLabels{batchv1.JobNameLabel: job.Name}); err != nil {
		t.Fatal(err)
	}
	var lines []time.Time
	for _, pod := range pods.Items {
		log, err := suite.set.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{Timestamps: true}).Stream(suite.ctx)
		if err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(log).ReadString('\n')
		if err != nil {
			t.Fatalf("pod %s: wanted a line in its log, found none: %v", pod.Name, err)
		}
		log.Close()
		stamp, _, _ := strings.Cut(line, " ")
		printed, err := time.Parse(time.RFC3339Nano, stamp)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, printed)
	}
	return slices.MinFunc(lines, time.Time.Compare)
}

// timeRun times a run without a warm-up, whose window begins with its first request.
func timeRun(t *testing.T, ns string, round int, times map[string][]time.Duration) {
	t.Helper()
	b := newPutIn(ns, suite.side, fmt.Sprintf("run-%d", round), 20_000)
	b.Spec.Load.Pods = timedPods
	watcher, err := suite.client.Watch(suite.ctx, &v1alpha1.EtcdBenchmarkList{}, &client.ListOptions{
		Namespace: ns, FieldSelector: fields.OneTermEqualSelector("metadata.name", b.Name),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Stop()
	applied := time.Now()
	create(t, b)
	var summarized time.Time
	limit := time.After(finishWithin)
	for summarized.IsZero() {
		select {
		case event, open := <-watcher.ResultChan():
			if !open || event.Type == watch.Error {
				t.Fatalf("the watch of the run ended before its summary came: %v", event.Object)
			}
			if seen, ok := event.Object.(*v1alpha1.EtcdBenchmark); ok && seen.Status.Summary != nil {
				summarized = time.Now()
			}
		case <-limit:
			t.Fatalf("wanted a summary of %s within %s, found none", b.Name, finishWithin)
		}
	}
	b = awaitEnd(t, b)
	requireCompleted(t, b)
	s := b.Status.Summary
	times[runFirstRequest] = append(times[runFirstRequest], s.WindowStart.Sub(applied))
	times[runSummary] = append(times[runSummary], summarized.Sub(s.WindowEnd.Time))
	times[runSkew] = append(times[runSkew], time.Duration(s.StartSkewMicroseconds)*time.Microsecond)
}
