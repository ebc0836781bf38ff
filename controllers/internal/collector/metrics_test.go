package collector

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Each scrape is counted once, and a failed one by its reason.
func TestScrapesAreCounted(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refusing := closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		handler http.Handler
		reason  string
	}{
		"valid":       {metrics(snapshot(3, results.StageReady)), ""},
		"hung":        {http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), reasonTimeout},
		"refused":     {nil, reasonUnreachable},
		"no page":     {http.NotFoundHandler(), reasonStatus},
		"no numbers":  {http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }), reasonInvalid},
		"another pod": {metrics(snapshot(7, results.StageReady)), reasonOtherPod},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := New(&http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, refusing)
			}})
			if tc.handler != nil {
				c = serve(t, tc.handler)
			}
			c.scraper.client.Timeout = 200 * time.Millisecond
			before, total, spent := errorCounts(), scrapeCount(t), scrapeSeconds(t)
			answers, errs := c.scraper.scrapeAll(t.Context(), round{run: uid, now: time.Now}, []target{{Pod: Pod{Name: "p", Index: 3, IP: "198.18.0.1"}}})
			if (len(answers) == 1) != (tc.reason == "") || len(answers)+len(errs) != 1 {
				t.Errorf("found %d answers and the errors %v", len(answers), errs)
			}
			for reason, n := range errorCounts() {
				want := before[reason]
				if reason == tc.reason {
					want++
				}
				if n != want {
					t.Errorf("%s: found %v errors, wanted %v", reason, n, want)
				}
			}
			if got := scrapeCount(t); got != total+1 {
				t.Errorf("found %d scrapes, wanted %d", got, total+1)
			}
			// A pod that does not answer takes as long as the client waits for it.
			if took := scrapeSeconds(t) - spent; tc.reason == reasonTimeout && took < 0.19 {
				t.Errorf("found a scrape of %v s, wanted 0.2", took)
			}
		})
	}
}

func errorCounts() map[string]float64 {
	counts := map[string]float64{}
	for _, reason := range []string{reasonTimeout, reasonUnreachable, reasonStatus, reasonInvalid, reasonOtherPod} {
		counts[reason] = testutil.ToFloat64(scrapeErrors.WithLabelValues(reason))
	}
	return counts
}

// A scrape that the operator interrupts says nothing about a pod.
func TestInterruptedScrapesAreNotCounted(t *testing.T) {
	before, total := errorCounts(), scrapeCount(t)
	observe(time.Second, fmt.Errorf("scraping: %w", context.Canceled))
	if diff := cmp.Diff(before, errorCounts()); diff != "" || scrapeCount(t) != total {
		t.Errorf("found %d scrapes, wanted %d; errors (-before +after):\n%s", scrapeCount(t), total, diff)
	}
}

func scrapeCount(t *testing.T) uint64 { return scrapeHistogram(t).GetSampleCount() }

func scrapeSeconds(t *testing.T) float64 { return scrapeHistogram(t).GetSampleSum() }

func scrapeHistogram(t *testing.T) (h *dto.Histogram) {
	t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "etcdbench_pod_scrape_duration_seconds" {
			h = f.Metric[0].Histogram
		}
	}
	return h
}
