package controllers

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// reads counts the lists of pods in the cache, one in each reconcile, and the reads of pods and Jobs from the API server.
type reads struct{ cached, live atomic.Int32 }

type countedCache struct {
	client.Client
	reads *reads
}

func (c countedCache) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, arePods := list.(*corev1.PodList); arePods {
		c.reads.cached.Add(1)
	}
	return c.Client.List(ctx, list, options...)
}

type countedReader struct {
	client.Reader
	reads *reads
}

func (c countedReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, arePods := list.(*corev1.PodList); arePods {
		c.reads.live.Add(1)
	}
	return c.Reader.List(ctx, list, options...)
}

func (c countedReader) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	if _, isJob := o.(*batchv1.Job); isJob {
		c.reads.live.Add(1)
	}
	return c.Reader.Get(ctx, key, o, options...)
}

// A loss is confirmed once by the API server. A run that goes on without the pod does not ask again in each reconcile.
func TestALostPodIsLookedForOnce(t *testing.T) {
	for name, lose := range map[string]func(*fakePod){
		"is gone":       func(a *fakePod) { a.vanishes() },
		"has ended":     func(a *fakePod) { a.exits(137, nil) },
		"is terminated": func(a *fakePod) { a.must(a.api.Delete(a.t.Context(), a.pod, client.GracePeriodSeconds(60))) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newHarness(t, func(run *v1alpha1.EtcdBenchmark) { run.Spec.OnPodLost = v1alpha1.PodLossContinue })
			s.playPreparing()
			s.playReady()
			s.playRunning()
			counted := &reads{}
			s.restart(func(r *EtcdBenchmarkReconciler) {
				r.Client, r.APIReader = countedCache{r.Client, counted}, countedReader{r.APIReader, counted}
			})
			lose(s.pods[1])
			s.await("the loss to be confirmed", func() bool { return counted.live.Load() > 0 })
			s.reconcile(counted, 2)
			before := counted.live.Load()
			s.reconcile(counted, 5)
			if after := counted.live.Load(); after != before {
				t.Errorf("5 reconciles read %d times from the API server", after-before)
			}
		})
	}
}

// reconcile triggers the operator until it has reconciled n times.
func (s *harness) reconcile(counted *reads, n int32) {
	s.t.Helper()
	until := counted.cached.Load() + n
	s.await("reconciles", func() bool {
		s.later(time.Millisecond)
		return counted.cached.Load() >= until
	})
}
