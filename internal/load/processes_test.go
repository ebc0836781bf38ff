package load

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// served has the metrics that one member serves.
type served struct{ memory float64 }

func (s served) Sample(context.Context) map[string]members.Sample {
	return map[string]members.Sample{"a": {At: time.Now(), Gauges: map[members.Gauge]float64{members.GaugeMemoryBytes: s.memory}}}
}

// What a sampler has measured of a member's process replaces what the member says of it. A sampler that does not answer
// is a problem only if there is nothing else.
func TestSamplesHaveTheProcess(t *testing.T) {
	const answer = `{"counters": {"storage_written_bytes": 4096, "of another kind": 1}, "gauges": {"memory": 7, "highest memory": 9}}`
	for name, tc := range map[string]struct {
		own     Sampler
		answer  string
		memory  float64
		written float64
		problem bool
	}{
		"both":             {served{1000}, answer, 7, 4096, false},
		"the process only": {nil, answer, 7, 4096, false},
		"no answer":        {served{1000}, "<html>", 1000, 0, false},
		"nothing":          {nil, "<html>", 0, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			var asked string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = r.URL.Query().Get("seconds")
				_, _ = io.WriteString(w, tc.answer)
			}))
			defer server.Close()
			target := plan.Target{Endpoints: []string{"other", "here"}, Samplers: []string{"127.0.0.1:1", strings.TrimPrefix(server.URL, "http://")}}
			p := processesOf(target, []results.Member{{ID: "a", Endpoint: "here"}, {ID: "b", Endpoint: "elsewhere"}})
			all := p.sample(t.Context(), tc.own, time.Now().Add(-time.Minute))
			s := all["a"]
			if len(all) != 1 || s.At.IsZero() || s.Gauges[members.GaugeMemoryBytes] != tc.memory || s.Counters[results.FigureStorageWrittenBytes] != tc.written ||
				(s.Problem != "") != tc.problem || len(s.Counters) > 1 {
				t.Errorf("got %+v", all)
			}
			if seconds, err := strconv.ParseFloat(asked, 64); err != nil || seconds < 60 || seconds > 120 {
				t.Errorf("asked for the highest values of %s s, wanted the minute since the start", asked)
			}
		})
	}
	if p := processesOf(plan.Target{Endpoints: []string{"here"}}, []results.Member{{ID: "a", Endpoint: "here"}}); len(p) > 0 {
		t.Errorf("got %v, wanted nothing without samplers", p)
	}
}
