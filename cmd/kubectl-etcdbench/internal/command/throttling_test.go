package command

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/etcdbench/etcd-benchmark-operator/internal/doctor"
)

// The lines of a kubelet: the labels are recorded ones, and the periods were added. Another pod has the same name elsewhere, and one
// has no CPU limit.
const pageOfKubelet = `# HELP container_cpu_cfs_periods_total Number of elapsed enforcement period intervals.
# TYPE container_cpu_cfs_periods_total counter
container_cpu_cfs_periods_total{container="",id="/kubepods/burstable/pod97d5",image="",name="",namespace="perf",pod="etcd-0"} 3000 1795834100100
container_cpu_cfs_periods_total{container="etcd",id="/kubepods/burstable/pod97d5/8992",image="gcr.io/etcd-development/etcd:v3.7.3",name="8992",namespace="perf",pod="etcd-0"} 2900 1795834098918
container_cpu_cfs_periods_total{container="etcd",id="/kubepods/burstable/podbeef/1111",image="gcr.io/etcd-development/etcd:v3.7.3",name="1111",namespace="other",pod="etcd-0"} 77 1795834098918
# HELP container_cpu_cfs_throttled_periods_total Number of throttled period intervals.
# TYPE container_cpu_cfs_throttled_periods_total counter
container_cpu_cfs_throttled_periods_total{container="",id="/kubepods/burstable/pod97d5",image="",name="",namespace="perf",pod="etcd-0"} 40 1795834100100
container_cpu_cfs_throttled_periods_total{container="etcd",id="/kubepods/burstable/pod97d5/8992",image="gcr.io/etcd-development/etcd:v3.7.3",name="8992",namespace="perf",pod="etcd-0"} 1900 1795834098918
container_cpu_cfs_throttled_periods_total{container="etcd",id="/kubepods/burstable/podbeef/1111",image="gcr.io/etcd-development/etcd:v3.7.3",name="1111",namespace="other",pod="etcd-0"} 70 1795834098918
# HELP container_cpu_usage_seconds_total Cumulative cpu time consumed in seconds.
# TYPE container_cpu_usage_seconds_total counter
container_cpu_usage_seconds_total{container="etcd",cpu="total",id="/kubepods/burstable/pod97d5/8992",image="gcr.io/etcd-development/etcd:v3.7.3",name="8992",namespace="perf",pod="etcd-0"} 5.702128161 1795834098918
container_cpu_usage_seconds_total{container="etcd",cpu="total",id="/kubepods/besteffort/pod0001/2222",image="gcr.io/etcd-development/etcd:v3.7.3",name="2222",namespace="perf",pod="etcd-1"} 5.7 1795834098918
`

// A kubelet tells the periods of the groups of a pod, over the API server. What it does not tell leaves them unknown.
func TestTheThrottlingOfPods(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v1/nodes/node-a/proxy/metrics/cadvisor":
			_, _ = io.WriteString(w, pageOfKubelet)
		case "/api/v1/nodes/node-b/proxy/metrics/cadvisor":
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"nodes \"node-b\" is forbidden","reason":"Forbidden","details":{"name":"node-b","kind":"nodes"},"code":403}`)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	api, err := corev1client.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	read := podThrottling(api.RESTClient(), map[string]forwarded{
		"limited": {"perf", "etcd-0", "node-a"}, "unlimited": {"perf", "etcd-1", "node-a"}, "absent": {"perf", "etcd-2", "node-a"},
		"forbidden": {"perf", "etcd-3", "node-b"}, "elsewhere": {"perf", "etcd-4", "node-c"},
	})
	groups, unread := read(t.Context(), "limited")
	want := doctor.Groups{"/kubepods/burstable/pod97d5": {All: 3000, Throttled: 40}, "/kubepods/burstable/pod97d5/8992": {All: 2900, Throttled: 1900}}
	if unread != nil || len(groups) != len(want) {
		t.Fatalf("got %+v (%+v), wanted %+v", groups, unread, want)
	}
	for id, p := range want {
		if groups[id] != p {
			t.Errorf("%s: got %+v, wanted %+v", id, groups[id], p)
		}
	}
	if groups, unread := read(t.Context(), "unlimited"); unread != nil || len(groups) > 0 {
		t.Errorf("a pod without a CPU limit: got %+v (%+v)", groups, unread)
	}
	for pod, needs := range map[string]string{"forbidden": "nodes/proxy", "absent": "kubelet", "elsewhere": "kubelet"} {
		if groups, unread := read(t.Context(), pod); unread == nil || !strings.Contains(unread.Needs, needs) {
			t.Errorf("%s: got %+v (%+v), wanted that it takes %s", pod, groups, unread, needs)
		}
	}
}
