package command

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
)

// kubelet serves the logs of containers at the address of a node, where the API server reads them. It returns the name
// of the node.
func kubelet(t *testing.T, serve http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewTLSServer(serve)
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(address.Port())
	if err != nil {
		t.Fatal(err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: "node-"}}
	if err := apiServer.client.Create(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = apiServer.client.Delete(t.Context(), node) })
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address.Hostname()}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(port)
	if err := apiServer.client.Status().Update(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	return node.Name
}

// clientPod creates a client pod of a run on a node.
func clientPod(t *testing.T, run *v1alpha1.EtcdBenchmark, index int, node string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: run.Namespace, Name: run.Name + "-" + strconv.Itoa(index),
			Labels: map[string]string{
				v1alpha1.LabelRunUID: string(run.UID), v1alpha1.LabelComponent: v1alpha1.ComponentLoad,
				"batch.kubernetes.io/job-completion-index": strconv.Itoa(index),
			},
		},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: lifecycle.ContainerName, Image: "none"}}},
	}
	if err := apiServer.client.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

// createdRun creates the run puts in a namespace of its own.
func createdRun(t *testing.T) *v1alpha1.EtcdBenchmark {
	t.Helper()
	key := client.ObjectKey{Namespace: namespace(t), Name: "puts"}
	call(puts, "run", "-f", "-", "-n", key.Namespace, "--timeout", "1ms").wantStatus(t, exitUnknown)
	return awaitRun(t, key, anyState)
}

func TestLogsOfAllClientPods(t *testing.T) {
	run := createdRun(t)
	node := kubelet(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("first of " + r.URL.Path + "\nlast, tail " + r.URL.Query().Get("tailLines")))
	})
	// By index, not by name.
	for _, index := range []int{10, 2} {
		clientPod(t, run, index, node)
	}
	c := call("", "logs", "puts", "-n", run.Namespace, "--tail", "7")
	c.wantStatus(t, exitDone)
	var want strings.Builder
	for _, pod := range []string{"puts-2", "puts-10"} {
		want.WriteString("[" + pod + "] first of /containerLogs/" + run.Namespace + "/" + pod + "/" + lifecycle.ContainerName + "\n")
		want.WriteString("[" + pod + "] last, tail 7\n")
	}
	if c.out.String() != want.String() {
		t.Errorf("wanted\n%s\ngot\n%s", want.String(), c.out)
	}
}

func TestLogsAreFollowed(t *testing.T) {
	run := createdRun(t)
	more := make(chan struct{})
	node := kubelet(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("follow") != "true" {
			t.Errorf("wanted to follow, got %s", r.URL)
		}
		_, _ = w.Write([]byte("before\n"))
		w.(http.Flusher).Flush()
		<-more
		_, _ = w.Write([]byte("after\n"))
	})
	// The kubelet's server ends when it has answered, also if the test fails.
	answer := sync.OnceFunc(func() { close(more) })
	t.Cleanup(answer)
	clientPod(t, run, 0, node)
	clientPod(t, run, 1, node)
	c := call("", "logs", "run/puts", "-n", run.Namespace, "--follow")
	c.out.await(t, "[puts-0] before")
	c.out.await(t, "[puts-1] before")
	answer()
	c.wantStatus(t, exitDone)
	if out := c.out.String(); strings.Count(out, "] after\n") != 2 {
		t.Errorf("got\n%s", out)
	}
}

func TestLogsWithoutPods(t *testing.T) {
	run := createdRun(t)
	key := client.ObjectKeyFromObject(run)
	for _, tc := range []struct {
		change func(*v1alpha1.EtcdBenchmarkStatus)
		want   string
	}{
		{stage(v1alpha1.StageQueued, metav1.ConditionFalse), "has no client pods yet: it is Queued"},
		{stage(v1alpha1.ReasonTargetNotFound, metav1.ConditionTrue), "ended as TargetNotFound and has no client pods"},
		{func(s *v1alpha1.EtcdBenchmarkStatus) {
			stage(v1alpha1.ReasonCompleted, metav1.ConditionTrue)(s)
			s.Pods = []v1alpha1.PodStatus{{Index: 0, Stage: "Done"}}
		}, "are gone, and their logs with them"},
	} {
		operate(t, key, tc.change)
		c := call("", "logs", "puts", "-n", key.Namespace)
		c.wantStatus(t, exitFailed)
		if !strings.Contains(c.err.String(), tc.want) {
			t.Errorf("wanted %q, got %s", tc.want, c.err)
		}
	}
}

func TestLogsOfWhatHasNone(t *testing.T) {
	ns := namespace(t)
	for argument, want := range map[string]string{"nothing": "nothing", "suite/x": "only runs have client pods", "schedule/x": "only runs have client pods"} {
		c := call("", "logs", argument, "-n", ns)
		c.wantStatus(t, exitFailed)
		if !strings.Contains(c.err.String(), want) {
			t.Errorf("%s: wanted %q, got %s", argument, want, c.err)
		}
	}
}
