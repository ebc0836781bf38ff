package command

import (
	"context"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/exposition"
	"github.com/etcdbench/etcd-benchmark-operator/internal/doctor"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// The series of a kubelet that are read. It serves the periods only of containers with a CPU limit.
const (
	containerCPU       = "container_cpu_usage_seconds_total"
	containerPeriods   = "container_cpu_cfs_periods_total"
	containerThrottled = "container_cpu_cfs_throttled_periods_total"
)

var metricsOfContainers = exposition.New(exposition.Table{
	Counters: map[string]results.Figure{}, Gauges: map[string]members.Gauge{},
	Others: []string{containerCPU, containerPeriods, containerThrottled},
})

const (
	// kubeletLimit bounds the time of an answer of a kubelet, and mostOfKubelet its size: 250 pods have some megabytes.
	kubeletLimit  = 10 * time.Second
	mostOfKubelet = 64 << 20
)

// forwarded is a pod that an address of this machine leads to.
type forwarded struct{ namespace, name, node string }

// podThrottling asks the kubelets of the pods behind addresses, over the API server.
func podThrottling(api rest.Interface, pods map[string]forwarded) etcd.Throttling {
	return func(ctx context.Context, endpoint string) (doctor.Groups, *doctor.Missing) {
		ctx, cancel := context.WithTimeout(ctx, kubeletLimit)
		defer cancel()
		pod := pods[endpoint]
		groups, err := groupsOf(ctx, api, pod)
		switch {
		case apierrors.IsForbidden(err):
			return nil, &doctor.Missing{Why: "this user may not ask the kubelets", Needs: "the right to get nodes/proxy"}
		case err != nil:
			return nil, &doctor.Missing{Why: fmt.Sprintf("asking the kubelet of node %s: %v", pod.node, err), Needs: "the metrics /metrics/cadvisor of its kubelet"}
		}
		return groups, nil
	}
}

// groupsOf has no group if the pod has no CPU limit.
func groupsOf(ctx context.Context, api rest.Interface, pod forwarded) (doctor.Groups, error) {
	body, err := api.Get().AbsPath("/api/v1/nodes", pod.node, "proxy/metrics/cadvisor").Stream(ctx)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, mostOfKubelet))
	if err != nil {
		return nil, err
	}
	page, err := metricsOfContainers.Parse(text)
	if err != nil {
		return nil, err
	}
	own := page.By("namespace")[pod.namespace].By("pod")[pod.name]
	if len(own) == 0 {
		return nil, fmt.Errorf("it says nothing about pod %s", pod.name)
	}
	groups := doctor.Groups{}
	for id, of := range own.By("id") {
		all, limited := of.Sum(containerPeriods)
		throttled, _ := of.Sum(containerThrottled)
		if limited {
			groups[id] = doctor.Periods{All: all, Throttled: throttled}
		}
	}
	return groups, nil
}
