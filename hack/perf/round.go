package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

const pods = 3

// round is one measurement of each side, in seconds.
type round struct {
	// FirstLine: a bare Job's creation → the first line of any of its pods.
	FirstLine float64 `json:"bareJobFirstLineSeconds"`
	// FirstRequest: an EtcdBenchmark's creation → its first request.
	FirstRequest float64 `json:"firstRequestSeconds"`
	// Summary: the last response → the summary in status, as a watch shows it.
	Summary float64 `json:"lastResponseToSummarySeconds"`
	// Skew: the first pod's start → the last pod's.
	Skew float64 `json:"startSkewSeconds"`
}

// measureRound measures both sides; who comes first alternates.
func (l *lab) measureRound(ctx context.Context, number int) (round, error) {
	var r round
	sides := []func() error{
		func() error { return l.measureJob(ctx, number, &r) },
		func() error { return l.measureRun(ctx, number, &r) },
	}
	if number%2 == 1 {
		sides[0], sides[1] = sides[1], sides[0]
	}
	for _, side := range sides {
		if err := side(); err != nil {
			return round{}, err
		}
	}
	return r, nil
}

// measureJob times a bare Job whose pods print one line.
func (l *lab) measureJob(ctx context.Context, number int, r *round) error {
	job := bareJob(fmt.Sprintf("bare-%d", number), l.image)
	applied := time.Now()
	if err := l.client.Create(ctx, job); err != nil {
		return err
	}
	err := poll(ctx, func(ctx context.Context) (bool, error) {
		err := l.client.Get(ctx, client.ObjectKeyFromObject(job), job)
		return job.Status.Succeeded == pods, err
	})
	if err != nil {
		return fmt.Errorf("waiting for the bare Job: %w", err)
	}
	first, err := l.firstLine(ctx, job)
	if err != nil {
		return err
	}
	r.FirstLine = first.Sub(applied).Seconds()
	return l.client.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground))
}

// bareJob prints its program's version.
func bareJob(name, image string) *batchv1.Job {
	count, indexed, no, yes := int32(pods), batchv1.IndexedCompletion, false, true
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: batchv1.JobSpec{
			Parallelism: &count, Completions: &count, CompletionMode: &indexed,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy:                corev1.RestartPolicyNever,
				AutomountServiceAccountToken: &no,
				SecurityContext: &corev1.PodSecurityContext{
					RunAsNonRoot:   &yes,
					SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
				},
				Containers: []corev1.Container{{
					Name: "bare", Image: image, ImagePullPolicy: corev1.PullIfNotPresent,
					Command: []string{"/loadgen", "--version"},
					SecurityContext: &corev1.SecurityContext{
						AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes,
						Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
					},
				}},
			}},
		},
	}
}

// firstLine returns when the container runtime got the first line of any pod.
func (l *lab) firstLine(ctx context.Context, job *batchv1.Job) (time.Time, error) {
	var list corev1.PodList
	if err := l.client.List(ctx, &list, client.InNamespace(namespace), client.MatchingLabels{batchv1.JobNameLabel: job.Name}); err != nil {
		return time.Time{}, err
	}
	var first time.Time
	for _, pod := range list.Items {
		line, err := l.lineTime(ctx, pod.Name)
		if err != nil {
			return time.Time{}, err
		}
		if first.IsZero() || line.Before(first) {
			first = line
		}
	}
	return first, nil
}

func (l *lab) lineTime(ctx context.Context, pod string) (time.Time, error) {
	logs, err := l.set.CoreV1().Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{Timestamps: true}).Stream(ctx)
	if err != nil {
		return time.Time{}, err
	}
	defer logs.Close()
	line, err := bufio.NewReader(logs).ReadString('\n')
	if err != nil {
		return time.Time{}, fmt.Errorf("pod %s printed no line: %w", pod, err)
	}
	stamp, _, _ := strings.Cut(line, " ")
	return time.Parse(time.RFC3339Nano, stamp)
}

// measureRun times an EtcdBenchmark without warm-up, so that its measured
// window begins with its first request.
func (l *lab) measureRun(ctx context.Context, number int, r *round) error {
	b := shortRun(fmt.Sprintf("run-%d", number))
	watcher, err := l.client.Watch(ctx, &v1alpha1.EtcdBenchmarkList{}, &client.ListOptions{
		Namespace: namespace, FieldSelector: fields.OneTermEqualSelector("metadata.name", b.Name),
	})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	applied := time.Now()
	if err := l.client.Create(ctx, b); err != nil {
		return err
	}
	summarized, b, err := awaitSummary(ctx, watcher)
	if err != nil {
		return err
	}
	s := b.Status.Summary
	r.FirstRequest = s.WindowStart.Sub(applied).Seconds()
	r.Summary = summarized.Sub(s.WindowEnd.Time).Seconds()
	r.Skew = (time.Duration(s.StartSkewMicroseconds) * time.Microsecond).Seconds()
	return l.client.Delete(ctx, b)
}

func shortRun(name string) *v1alpha1.EtcdBenchmark {
	requests := int64(20_000)
	return &v1alpha1.EtcdBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.EtcdBenchmarkSpec{
			Target: v1alpha1.Target{Service: &v1alpha1.ServiceTarget{Name: "etcd"}},
			Workload: spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{
				Keys: spec.Keys{Count: 20_000, SizeBytes: 8}, Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 256},
			}},
			Load: spec.Load{Pods: pods, Connections: 30, Clients: 300, Requests: &requests, Seed: 1},
		},
	}
}

// awaitSummary returns when the summary was seen in status, and the object when
// it was finished.
func awaitSummary(ctx context.Context, watcher watch.Interface) (time.Time, *v1alpha1.EtcdBenchmark, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var seen time.Time
	for {
		select {
		case <-ctx.Done():
			return seen, nil, fmt.Errorf("waiting for the run to finish: %w", ctx.Err())
		case event, open := <-watcher.ResultChan():
			b, isRun := event.Object.(*v1alpha1.EtcdBenchmark)
			if !open || !isRun {
				return seen, nil, fmt.Errorf("watching the run: the watch ended (%v)", event.Type)
			}
			if b.Status.Summary != nil && seen.IsZero() {
				seen = time.Now()
			}
			if meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionFinished) {
				return seen, b, wasCompleted(b)
			}
		}
	}
}

func wasCompleted(b *v1alpha1.EtcdBenchmark) error {
	finished := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionFinished)
	if finished.Reason != v1alpha1.ReasonCompleted || b.Status.Summary == nil || b.Status.Summary.WindowEnd == nil {
		return fmt.Errorf("wanted the run Completed with a summary, found %s: %s", finished.Reason, finished.Message)
	}
	return nil
}
