package wire

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

func TestDecodeIsTheInverseOfFamilies(t *testing.T) {
	for seed := range uint64(300) {
		want := randomSnapshot(seed)
		got, err := Decode(withTimeline(want))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff := cmp.Diff(want, got, sameSnapshot...); diff != "" {
			t.Fatalf("seed %d: snapshot changed on its way (-want +got):\n%s", seed, diff)
		}
	}
}

// withTimeline encodes a snapshot like Families, and its timeline.
func withTimeline(s *results.Snapshot) []*dto.MetricFamily { return encode(s, classicHistogram) }

// scrape serves a snapshot like a client pod and returns the response.
func scrape(t *testing.T, s *results.Snapshot, accept string) (body []byte, contentType string) {
	t.Helper()
	served := Gatherer(func() *results.Snapshot { return s })
	server := httptest.NewServer(promhttp.HandlerFor(served, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}))
	defer server.Close()
	request, err := http.NewRequest(http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", accept)
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err = io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("scrape: %v, %s: %s", err, response.Status, body)
	}
	return body, response.Header.Get("Content-Type")
}

func TestReadReturnsWhatWasServed(t *testing.T) {
	for seed := range uint64(50) {
		want := randomSnapshot(seed)
		body, contentType := scrape(t, want, ScrapeAccept)
		got, err := Read(bytes.NewReader(body), contentType)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		want.Timeline = results.Timeline{}
		if diff := cmp.Diff(want, got, sameSnapshot...); diff != "" {
			t.Fatalf("seed %d: snapshot changed on its way (-want +got):\n%s", seed, diff)
		}
	}
}

func TestMetricsPassTheLinter(t *testing.T) {
	s := guarded(typicalSnapshot())
	s.CoarsePacing, s.Resent, s.Bodies, s.Sessions = true, 1, results.Bodies{Sent: 1, Received: 1}, results.Sessions{Cuts: 1, LongestCut: 1, Timeout: 1}
	s.Work = results.Work{Done: 1, Total: 2, Since: s.Clock}
	// Gatherers refuse families that contradict each other.
	served := prometheus.Gatherers{Gatherer(func() *results.Snapshot { return s })}
	problems, err := testutil.GatherAndLint(served)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	gathered, err := served.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if want := len(families) - len(timelineFamilies()); len(gathered) != want {
		t.Errorf("linted %d families of %d", len(gathered), want)
	}
}

// curl gets the text format, which only has classic buckets.
func TestTextHasClassicBuckets(t *testing.T) {
	s := finalSnapshot(1, 0, spec.OperationPut)
	s.Operations[spec.OperationPut].Latency = recorded(1e5, 1<<31, 1e9, 3e9, 1e12)
	s.Operations[spec.OperationPut].CompletedInWindow = 5
	body, _ := scrape(t, s, "text/plain")
	for _, want := range []string{
		`etcdbench_request_duration_seconds_bucket{operation="Put",le="6.103515625e-05"} 0`,
		`etcdbench_request_duration_seconds_bucket{operation="Put",le="0.0001220703125"} 1`,
		`etcdbench_request_duration_seconds_bucket{operation="Put",le="1"} 2`,
		`etcdbench_request_duration_seconds_bucket{operation="Put",le="64"} 4`,
		`etcdbench_request_duration_seconds_bucket{operation="Put",le="+Inf"} 5`,
		`etcdbench_request_duration_seconds_count{operation="Put"} 5`,
		`etcdbench_request_duration_max_seconds{operation="Put"} 1000`,
		`etcdbench_stage{stage="Done"} 1`,
		`etcdbench_stage{stage="Ready"} 0`,
	} {
		if !strings.Contains(string(body), want+"\n") {
			t.Errorf("text lacks %s", want)
		}
	}
}

// Texts that would make the whole scrape invalid are cleaned or dropped.
func TestHostileTextsDoNotSpoilTheScrape(t *testing.T) {
	s := finalSnapshot(0, 10, spec.OperationPut)
	s.Failure = &results.Failure{Reason: results.FailureTLSFailed, Message: "bad\x1b[31m\nname \xff " + strings.Repeat("ü", text.MaxBytes)}
	s.Target.Members = append(s.Target.Members, s.Target.Members[0])
	body, contentType := scrape(t, s, ScrapeAccept)
	got, err := Read(bytes.NewReader(body), contentType)
	if err != nil {
		t.Fatal(err)
	}
	if message := got.Failure.Message; len(message) > text.MaxBytes || !strings.HasPrefix(message, "bad [31m name ? üü") {
		t.Errorf("message of %d bytes is %q", len(message), message)
	}
	if len(got.Target.Members) != 3 {
		t.Errorf("got %d members, wanted 3 with one listed twice", len(got.Target.Members))
	}
}

func TestReadRefuses(t *testing.T) {
	body, contentType := scrape(t, finalSnapshot(0, 100, spec.OperationPut), ScrapeAccept)
	text, textType := scrape(t, finalSnapshot(0, 100, spec.OperationPut), "text/plain")
	tests := map[string]struct {
		body        []byte
		contentType string
	}{
		"text":                       {text, textType},
		"a web page":                 {[]byte("<html>"), "text/html"},
		"no type":                    {body, ""},
		"nothing":                    {nil, contentType},
		"half of it":                 {body[:len(body)/2], contentType},
		"twice":                      {append(bytes.Clone(body), body...), contentType},
		"a message that never comes": {append(bytes.Clone(body), 0xff, 0xff, 0xff, 0xff, 0x0f), contentType},
		"too much":                   {append(bytes.Clone(body), make([]byte, MaxScrapeBytes)...), contentType},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if s, err := Read(bytes.NewReader(tc.body), tc.contentType); err == nil {
				t.Errorf("read %+v", s)
			}
		})
	}
}

// The largest possible snapshot must take less than a tenth of the limit.
func TestMaxScrapeBytesIsAmple(t *testing.T) {
	s := finalSnapshot(0, 0, spec.OperationPut, spec.OperationRange)
	for _, result := range s.Operations {
		for _, h := range result.Histograms() {
			h.Record(1)
			h.Record(int64(13 * 24 * time.Hour))
			p := h.Parts()
			p.Count = 0
			for bucket := range p.Counts {
				p.Counts[bucket] = uint64(bucket%2) * 1e9
				p.Count += p.Counts[bucket]
			}
			*h = histogramOf(t, p)
		}
		result.Errors = map[string]uint64{"Unavailable": result.Failed.Count()}
	}
	body, contentType := scrape(t, s, ScrapeAccept)
	if len(body)*10 > MaxScrapeBytes {
		t.Errorf("the largest scrape has %d bytes of %d", len(body), MaxScrapeBytes)
	}
	if _, err := Read(bytes.NewReader(body), contentType); err != nil {
		t.Error(err)
	}
}
