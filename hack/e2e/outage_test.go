//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// apiOutage is as long as the replacement of an API server takes.
	apiOutage = 30 * time.Second
	// kubeletOutage is longer than the 50 s after which a silent node becomes NotReady.
	kubeletOutage = 60 * time.Second
)

// checkLeaderOfTwo kills the process of the leader of two operators.
func checkLeaderOfTwo(t *testing.T) {
	scaleOperator(t, 2)
	t.Cleanup(func() { scaleOperator(t, 1) })
	checkRestart(t, "leading-operator-of-two-killed", func(t *testing.T) {
		pid, err := processOf(leadingOperator(t).UID, "manager")
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	})
}

func scaleOperator(t *testing.T, replicas int) {
	t.Helper()
	for _, args := range [][]string{
		{"scale", "-n", operatorNamespace, "deployment/" + release, "--replicas=" + strconv.Itoa(replicas)},
		{"rollout", "status", "-n", operatorNamespace, "deployment/" + release, "--timeout=2m"},
	} {
		if _, err := suite.detached().kubectl(args...); err != nil {
			t.Fatal(err)
		}
	}
}

// leadingOperator returns the pod that holds the operator's lease.
func leadingOperator(t *testing.T) *corev1.Pod {
	t.Helper()
	var leases coordinationv1.LeaseList
	if err := suite.client.List(suite.ctx, &leases, client.InNamespace(operatorNamespace)); err != nil {
		t.Fatal(err)
	}
	for _, lease := range leases.Items {
		if lease.Spec.HolderIdentity == nil {
			continue
		}
		// The identity is the pod's name, an underscore, and a random part.
		name, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
		pod := &corev1.Pod{}
		if err := suite.client.Get(suite.ctx, client.ObjectKey{Namespace: operatorNamespace, Name: name}, pod); err == nil {
			return pod
		}
	}
	t.Fatalf("wanted a lease that a pod of the operator holds, found %+v", leases.Items)
	return nil
}

// checkUpgradedRestart upgrades the release in mid-run. The pods of runs that have begun keep their image.
func checkUpgradedRestart(t *testing.T) {
	checkRestart(t, "operator-upgraded", func(t *testing.T) {
		if _, err := suite.helm("upgrade", release, suite.chart(), "--namespace", operatorNamespace, "--reset-then-reuse-values",
			"--set-string", "podAnnotations.e2e\\.etcdbench\\.dev/upgrade=yes", "--wait", "--timeout", "3m"); err != nil {
			t.Fatal(err)
		}
	})
}

// checkAPIServerOutage stops the API server for a while: it accepts connections and does not respond.
func checkAPIServerOutage(t *testing.T) {
	checkRestart(t, "api-server-stopped-for-30-s", func(t *testing.T) {
		pause(t, apiOutage, daemonProcess(t, "kube-apiserver"))
		eventually(t, time.Minute, "the API server to answer", func(ctx context.Context) error {
			_, err := suite.set.Discovery().ServerVersion()
			return err
		})
	})
}

// checkKubeletOutage stops the kubelet until its node is not ready: pods continue, but their state is not reported, and
// no annotation reaches them.
func checkKubeletOutage(t *testing.T) {
	checkRestart(t, "kubelet-stopped-for-60-s", func(t *testing.T) {
		pause(t, kubeletOutage, daemonProcess(t, "kubelet"))
		mustKubectl(t, "wait", "--for=condition=Ready", "nodes", "--all", "--timeout=2m")
	})
}

// daemonProcess returns the process of a daemon of the project's own cluster.
func daemonProcess(t *testing.T, name string) int {
	t.Helper()
	out, err := suite.command("go", "run", "./hack/cluster", "status")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^` + name + ` +up +pid (\d+)`).FindStringSubmatch(out)
	if found == nil {
		t.Fatalf("wanted the daemon %s, found:\n%s", name, out)
	}
	pid, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(fmt.Errorf("the process of %s: %w", name, err))
	}
	return pid
}
