package controllers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// playKubelet serves the metrics of the pod etcd-0, sampled before the window at the first read and after it from then on.
func (s *harness) playKubelet(from, until time.Time) (reads *atomic.Int32, change func(*EtcdBenchmarkReconciler)) {
	s.t.Helper()
	reads = &atomic.Int32{}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at, cpu := from.Add(-5*time.Second), 10
		if reads.Add(1) > 1 {
			at, cpu = until.Add(5*time.Second), 90
		}
		if r.Header.Get("Authorization") != "Bearer of the operator" {
			http.Error(w, "no", http.StatusForbidden)
		}
		fmt.Fprintf(w, "container_cpu_usage_seconds_total{container=\"etcd\",cpu=\"total\",id=\"/c\",name=\"c\",namespace=%q,pod=\"etcd-0\"} %d %d\n", s.run.Namespace, cpu, at.UnixMilli())
		_, _ = io.WriteString(w, "container_cpu_usage_seconds_total{container=\"other\",cpu=\"total\",id=\"/o\",name=\"o\",namespace=\"other\",pod=\"etcd-0\"} 1 1\n")
	}))
	s.t.Cleanup(server.Close)
	_, text, err := net.SplitHostPort(server.Listener.Addr().String())
	s.must(err)
	port, err := strconv.Atoi(text)
	s.must(err)
	return reads, func(r *EtcdBenchmarkReconciler) {
		s.must(r.ReadKubelets(&rest.Config{BearerToken: "of the operator"}, KubeletConfig{Port: port, Insecure: true}))
	}
}

// playLongWindow has the pods measure from one time to another, on two members.
func (s *harness) playLongWindow(from, until time.Time) {
	s.t.Helper()
	long := func(r *results.Snapshot) {
		measured(r)
		r.Window.Start, r.Window.StartAt, r.Window.End, r.Window.LastResponse = from, from, until, until
		if r.Index == 0 {
			r.Target = &results.Target{ClusterID: "c", Members: []results.Member{
				{ID: "a", Name: "etcd-0", Endpoint: "198.18.9.1:2379"}, {ID: "b", Name: "etcd-1", Endpoint: "198.18.9.2:2379"},
			}}
		}
	}
	s.playPreparing()
	s.playReady()
	s.await("a start on every pod", func() bool { return s.allHave(plan.AnnotationStartAt) })
	for _, a := range s.pods {
		a.reports(results.StageMeasuring, long)
	}
	s.awaitStage(v1alpha1.StageRunning)
	for _, a := range s.pods {
		a.reports(results.StageDone, long, withKeysDeleted)
	}
	s.awaitFinished(v1alpha1.ReasonCompleted)
}

// kubelets are the figures of the run's members at its end.
func (s *harness) kubelets() (all []v1alpha1.KubeletFigures) {
	s.t.Helper()
	for _, m := range s.status().Summary.Members {
		if m.Kubelet == nil {
			s.t.Fatalf("%s has neither figures of its kubelet nor a reason", m.Name)
		}
		all = append(all, *m.Kubelet)
	}
	if len(all) != 2 {
		s.t.Fatalf("found %d members, wanted 2", len(all))
	}
	return all
}

// The end of the run waits for a sample after the window.
func TestKubeletsMeasureTheMembersOfPods(t *testing.T) {
	s := newHarness(t, targets(byPods()))
	until := time.Now().Truncate(time.Millisecond)
	from := until.Add(-150 * time.Second)
	reads, readKubelets := s.playKubelet(from, until)
	s.restart(readKubelets)
	s.makeMember("etcd-0", "198.18.9.1", corev1.ConditionTrue)
	s.playLongWindow(from, until)
	all := s.kubelets()
	if cpu := all[0].CPUMillicores; cpu == nil || *cpu != 500 || all[0].SampledMicroseconds != 160e6 {
		t.Errorf("wanted 500 m over 160 s, found %+v", all[0])
	}
	if all[1].CPUMillicores != nil || !contains(all[1].Unknown, "198.18.9.2") {
		t.Errorf("wanted the address without a pod, found %+v", all[1])
	}
	if n := reads.Load(); n != 2 {
		t.Errorf("the node was read %d times, wanted 2", n)
	}
}

// unlisted refuses to list the members' pods of a run that has a start, the first times.
type unlisted struct {
	client.Reader
	run   client.ObjectKey
	times *atomic.Int32
}

func (u unlisted) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	asked := (&client.ListOptions{}).ApplyOptions(options).LabelSelector
	if _, ofPods := list.(*corev1.PodList); ofPods && asked != nil && asked.Matches(labels.Set{"app": "etcd"}) {
		run := &v1alpha1.EtcdBenchmark{}
		if err := u.Get(ctx, u.run, run); err != nil || run.Status.StartAt != nil && u.times.Add(-1) >= 0 {
			return errors.New("the API server is busy")
		}
	}
	return u.Reader.List(ctx, list, options...)
}

// The pods are listed again until it succeeds; a run that ends before has the error as the reason.
func TestMembersPodsThatCannotBeListed(t *testing.T) {
	for name, times := range map[string]int32{"once": 1, "always": math.MaxInt32} {
		t.Run(name, func(t *testing.T) {
			s := newHarness(t, targets(byPods()))
			until := time.Now().Truncate(time.Millisecond)
			from := until.Add(-150 * time.Second)
			_, readKubelets := s.playKubelet(from, until)
			left := &atomic.Int32{}
			left.Store(times)
			s.restart(readKubelets, func(r *EtcdBenchmarkReconciler) {
				r.APIReader = unlisted{r.APIReader, client.ObjectKeyFromObject(s.run), left}
			})
			s.makeMember("etcd-0", "198.18.9.1", corev1.ConditionTrue)
			s.playLongWindow(from, until)
			found := s.kubelets()[0]
			if measured := found.CPUMillicores != nil; measured != (name == "once") || !measured && !contains(found.Unknown, "API server is busy") {
				t.Errorf("found %+v", found)
			}
		})
	}
}

// A run of an operator that does not read kubelets says nothing about them.
func TestARunWithoutKubelets(t *testing.T) {
	s := newHarness(t, targets(byPods()))
	s.makeMember("etcd-0", "198.18.9.1", corev1.ConditionTrue)
	until := time.Now()
	s.playLongWindow(until.Add(-150*time.Second), until)
	for _, m := range s.status().Summary.Members {
		if m.Kubelet != nil {
			t.Errorf("found %+v of %s", m.Kubelet, m.Name)
		}
	}
}
