//go:build e2e

package e2e

import (
	"context"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	toolswatch "k8s.io/client-go/tools/watch"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// jobRecord has every load Job that was ever created in a namespace, by run. It comes from a watch, so a Job that was
// deleted and created again counts twice.
type jobRecord struct {
	mu   sync.Mutex
	uids map[string]map[types.UID]bool
}

// recordLoadJobs starts recording; it ends with the test.
func recordLoadJobs(t *testing.T, ns string) *jobRecord {
	t.Helper()
	jobs := suite.set.BatchV1().Jobs(ns)
	selector := v1alpha1.LabelComponent + "=" + v1alpha1.ComponentLoad
	list, err := jobs.List(suite.ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		t.Fatal(err)
	}
	watcher, err := toolswatch.NewRetryWatcherWithContext(suite.ctx, list.ResourceVersion, watchFunc(func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		options.LabelSelector = selector
		return jobs.Watch(ctx, options)
	}))
	if err != nil {
		t.Fatal(err)
	}
	record := &jobRecord{uids: map[string]map[types.UID]bool{}}
	t.Cleanup(watcher.Stop)
	go record.follow(watcher.ResultChan())
	return record
}

func (r *jobRecord) follow(events <-chan watch.Event) {
	for event := range events {
		if job, ok := event.Object.(*batchv1.Job); ok {
			r.add(job.Labels[v1alpha1.LabelRunUID], job.UID)
		}
	}
}

func (r *jobRecord) add(run string, job types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.uids[run] == nil {
		r.uids[run] = map[types.UID]bool{}
	}
	r.uids[run][job] = true
}

// requireOne requires that the run has had exactly one load Job in its whole life.
func (r *jobRecord) requireOne(t *testing.T, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := r.uids[string(b.UID)]
	if len(seen) != 1 || b.Status.Job == nil || !seen[b.Status.Job.UID] {
		t.Errorf("%s: wanted exactly one load Job, the one in status (%+v); saw %v", b.Name, b.Status.Job, seen)
	}
}

// watchFunc adapts a function to the source of a watch.
type watchFunc func(context.Context, metav1.ListOptions) (watch.Interface, error)

// WatchWithContext implements the interface that a retrying watcher requires.
func (f watchFunc) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return f(ctx, options)
}
