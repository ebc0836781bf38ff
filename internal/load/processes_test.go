package load

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// The members of a store without metrics have the figures of their samplers.
func TestProcessesOfMembersAreSampled(t *testing.T) {
	answers := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"counters": {"cpu_seconds": 1.5}, "gauges": {"memory": 7}}`))
	}))
	defer answers.Close()
	refuses := httptest.NewServer(http.NotFoundHandler())
	defer refuses.Close()
	addressOf := func(s *httptest.Server) string { return strings.TrimPrefix(s.URL, "http://") }
	target := plan.Target{Endpoints: []string{"a:1", "b:1", "c:1"}, Samplers: []string{addressOf(answers), addressOf(refuses), "c:2"}}
	all := []results.Member{{ID: "b", Endpoint: "b:1"}, {ID: "a", Endpoint: "a:1"}, {ID: "elsewhere", Endpoint: "d:1"}}
	got := processesOf(target, all).Sample(t.Context(), time.Now())
	if a := got["a"]; a.Problem != "" || a.Counters[results.FigureCPUSeconds] != 1.5 || a.Gauges[members.GaugeMemoryBytes] != 7 {
		t.Errorf("got %+v, wanted the answer of the first sampler", a)
	}
	if b := got["b"]; !strings.Contains(b.Problem, "404") || len(got) != 2 {
		t.Errorf("got %+v, wanted the reason of the second, and no third", got)
	}
	target.Samplers = nil
	if processesOf(target, all) != nil {
		t.Error("wanted no samples without samplers")
	}
}
