package controllers

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// slowClient advances the operator's clock whenever it lists pods.
type slowClient struct {
	client.Client
	clock *movedClock
	takes time.Duration
}

func (c slowClient) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, arePods := list.(*corev1.PodList); arePods {
		c.clock.move(c.takes)
	}
	return c.Client.List(ctx, list, options...)
}

// TestSlowOperatorStartsItsRun: a start that has always passed before the pods get it must not be chosen again forever.
func TestSlowOperatorStartsItsRun(t *testing.T) {
	s := newHarness(t)
	s.playPreparing()
	s.restart(func(r *EtcdBenchmarkReconciler) {
		r.Client = slowClient{Client: r.Client, clock: s.clock, takes: 3 * time.Second}
	})
	s.playReady()
	s.await("a start on every pod", func() bool { return s.allHave(plan.AnnotationStartAt) })
}
