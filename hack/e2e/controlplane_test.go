//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// checkControlPlane configures the operator with the address of a target's member as a control plane's. Runs that name
// this address, or a name that resolves to it, are refused unless they explicitly allow it.
func checkControlPlane(t *testing.T) {
	ns, c := namespace(t, "control-plane"), suite.side
	configured := addressOf(t, c, 0) + ":2379"
	configureControlPlane(t, configured)
	before := putForeign(t, c)
	for fault, run := range map[string]badRun{
		"address that is configured as a control plane's": {
			name: "address", change: func(b *v1alpha1.EtcdBenchmark) { b.Spec.Target.Endpoints = []string{configured} },
		},
		"name of an address that is configured as a control plane's": {
			name: "name", change: func(b *v1alpha1.EtcdBenchmark) { b.Spec.Target.Endpoints = []string{c.endpoint(0)} },
		},
	} {
		t.Run(run.name, func(t *testing.T) {
			run.wantReason, run.wantNamed = v1alpha1.ReasonControlPlaneTarget, []string{configured, "--control-plane-endpoints"}
			b := requireBadEnd(t, createBad(t, ns, run), run)
			victim{run: b, target: c, before: before}.requireNoHarm(t)
			reliability.add(t, fault, v1alpha1.StagePreparing, b, false)
		})
	}
	t.Run("acknowledged", func(t *testing.T) {
		b := newPutIn(ns, c, "acknowledged", 100)
		acknowledge(b)
		b = runToEnd(t, b)
		requireWhole(t, victim{run: b, target: c, before: before})
		reliability.add(t, "address that is configured as a control plane's, and acknowledged", v1alpha1.StagePreparing, b, false)
	})
}

// addressOf is the address of a member's pod.
func addressOf(t *testing.T, c *etcdCluster, member int) string {
	t.Helper()
	pod := memberPod(t, c, member)
	if pod.Status.PodIP == "" {
		t.Fatalf("wanted the address of %s, found none", pod.Name)
	}
	return pod.Status.PodIP
}

func memberPod(t *testing.T, c *etcdCluster, member int) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{}
	if err := suite.client.Get(suite.ctx, client.ObjectKey{Namespace: c.namespace, Name: c.podName(member)}, pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

// configureControlPlane upgrades the operator to treat one address as a control plane's, until the test ends.
func configureControlPlane(t *testing.T, address string) {
	t.Helper()
	configureOperator(t, "--control-plane-endpoints="+address, "controlPlaneEndpoints={"+address+"}")
}

// configureOperator sets values of the chart, by which the operator gets an argument, until the end of the test.
func configureOperator(t *testing.T, argument string, values ...string) {
	t.Helper()
	t.Cleanup(func() {
		detached := suite.detached()
		if err := detached.upgradeOperator(detached.chart(), ""); err != nil {
			t.Fatal(err)
		}
		if err := detached.awaitOperators(argument, false); err != nil {
			t.Fatal(err)
		}
	})
	if err := suite.upgradeOperator(suite.chart(), "", values...); err != nil {
		t.Fatal(err)
	}
	if err := suite.awaitOperators(argument, true); err != nil {
		t.Fatal(err)
	}
}

// awaitOperators waits until all pods of the operator have the argument, or none has it: a terminating one may still
// reconcile runs.
func (e *environment) awaitOperators(argument string, wanted bool) error {
	what := fmt.Sprintf("the operator's pods to have %s: %t", argument, wanted)
	return waitFor(e.ctx, 2*time.Minute, what, func(ctx context.Context) error {
		pods, err := e.operatorPods(ctx)
		if err != nil {
			return err
		}
		for _, pod := range pods {
			if slices.Contains(pod.Spec.Containers[0].Args, argument) != wanted {
				return fmt.Errorf("%s has the arguments %v", pod.Name, pod.Spec.Containers[0].Args)
			}
		}
		return nil
	})
}
