//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// kubeletWindow is long enough for the samples of the member's container, which are rarely more than 30 s off together. Those of
// the network may be.
const kubeletWindow = 300

// checkKubelets compares what a kubelet measured of a member with the member's own numbers. Without the chart's value, a run
// has no such figures.
func checkKubelets(t *testing.T) {
	c := suite.side
	short := runToEnd(t, behindService(newPut(c, "without-kubelets", 100)))
	for _, m := range short.Status.Summary.Members {
		if m.Kubelet != nil {
			t.Errorf("found figures of a kubelet that the operator may not read: %+v", m.Kubelet)
		}
	}
	var nodes corev1.NodeList
	if err := suite.client.List(suite.ctx, &nodes); err != nil || len(nodes.Items) == 0 {
		t.Fatalf("wanted nodes, found %d and %v", len(nodes.Items), err)
	}
	port := fmt.Sprint(nodes.Items[0].Status.DaemonEndpoints.KubeletEndpoint.Port)
	configureOperator(t, "--kubelet-port="+port, "kubeletMetrics.enabled=true", "kubeletMetrics.port="+port)
	long := behindService(newPut(c, "with-kubelets", 1))
	long.Spec.Load.Requests, long.Spec.Load.DurationSeconds = nil, new(int32(kubeletWindow))
	long.Spec.Load.Rate = &spec.Rate{PerSecond: 50}
	create(t, long)
	eventually(t, kubeletWindow*time.Second+finishWithin, "the run to be finished", func(ctx context.Context) (err error) {
		if long, err = get(ctx, long); err == nil && !long.HasFinished() {
			err = fmt.Errorf("it has the conditions %+v", long.Status.Conditions)
		}
		return err
	})
	own, k := long.Status.Summary.Members[0], kubeletOf(t, long)
	switch {
	case own.CPUMillicores == nil || k.CPUMillicores == nil || k.RSSBytes == nil:
		t.Errorf("wanted processors and memory of both, found %+v and %+v", own, k)
	case *k.CPUMillicores*2 < *own.CPUMillicores || *k.CPUMillicores > 2**own.CPUMillicores+10:
		t.Errorf("the kubelet measured %d m, and the member itself %d m", *k.CPUMillicores, *own.CPUMillicores)
	case k.SentBytesPerSecond == nil && !strings.Contains(k.Unknown, "network: the kubelet's samples are"):
		t.Errorf("wanted the network, or that its samples do not fit, found %q", k.Unknown)
	case k.SentBytesPerSecond != nil && *k.SentBytesPerSecond < *own.ClientSentBytes/(2*kubeletWindow):
		t.Errorf("the kubelet measured that the pod sent %d B/s, and the member that it sent %d B to clients", *k.SentBytesPerSecond, *own.ClientSentBytes)
	}
}

func behindService(b *v1alpha1.EtcdBenchmark) *v1alpha1.EtcdBenchmark {
	b.Spec.Target = v1alpha1.Target{Service: &v1alpha1.ServiceTarget{Name: etcdName, Port: intstr.FromString("client")}, ConcurrentRuns: v1alpha1.ConcurrentRunsAllow}
	return b
}

// kubeletOf are the figures of the only member.
func kubeletOf(t *testing.T, b *v1alpha1.EtcdBenchmark) v1alpha1.KubeletFigures {
	t.Helper()
	if s := b.Status.Summary; s == nil || len(s.Members) != 1 || s.Members[0].Kubelet == nil {
		t.Fatalf("%s: wanted one member with figures of its kubelet or a reason, found %+v", b.Name, s)
	}
	return *b.Status.Summary.Members[0].Kubelet
}
