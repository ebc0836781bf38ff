package results

import (
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"slices"

	dto "github.com/prometheus/client_model/go"
)

// ScrapeAccept is the Accept header that a scrape must send: only Prometheus's
// protobuf format carries native histograms.
const ScrapeAccept = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"

// MaxScrapeBytes bounds what Read takes from one pod. A full snapshot with all
// histograms wide open takes less than a tenth of it.
const MaxScrapeBytes = 4 << 20

// Read reads a scrape, decompressed, whose Content-Type header is contentType.
func Read(r io.Reader, contentType string) (*Snapshot, error) {
	mediaType, params, err := mime.ParseMediaType(contentType)
	if err != nil || mediaType != "application/vnd.google.protobuf" || params["encoding"] != "delimited" {
		return nil, fmt.Errorf("reading results: wanted content of the type %s, found %.64q; is this the metrics port of a client pod?",
			ScrapeAccept, contentType)
	}
	data, err := io.ReadAll(io.LimitReader(r, MaxScrapeBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	if len(data) > MaxScrapeBytes {
		return nil, fmt.Errorf("reading results: wanted at most %d bytes, found more", MaxScrapeBytes)
	}
	all, err := unmarshalFamilies(data)
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	return Decode(all)
}

// Decode is the inverse of Snapshot.Families. Families that are not this
// package's are ignored. Members of the target come sorted by name.
func Decode(all []*dto.MetricFamily) (*Snapshot, error) {
	s := &Snapshot{Operations: map[Operation]*OperationResult{}, Requests: map[RPC]map[Phase]uint64{}}
	seen := map[string]bool{}
	for _, mf := range all {
		f, ours := familiesByName[mf.GetName()]
		if !ours {
			continue
		}
		if seen[f.name] {
			return nil, fmt.Errorf("decoding results: found %s twice", f.name)
		}
		seen[f.name] = true
		if err := f.decode(s, mf); err != nil {
			return nil, fmt.Errorf("decoding results: %s: %w", f.name, err)
		}
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("decoding results: %w", err)
	}
	return s, nil
}

func (f *family) decode(s *Snapshot, mf *dto.MetricFamily) error {
	if mf.GetType() != f.kind {
		return fmt.Errorf("wanted the type %v, found %v", f.kind, mf.GetType())
	}
	seen := map[string]bool{}
	for _, in := range mf.Metric {
		m, err := f.decodeMetric(in)
		if err != nil {
			return err
		}
		key := labelKey(m.labels)
		if seen[key] {
			return fmt.Errorf("found the labels %q twice", m.labels)
		}
		seen[key] = true
		if err := f.read(s, m); err != nil {
			return err
		}
	}
	return nil
}

// decodeMetric refuses every value that is negative or not a number: no metric
// of a snapshot can be.
func (f *family) decodeMetric(in *dto.Metric) (m metric, err error) {
	if m.labels, err = f.labelValues(in.Label); err != nil {
		return m, err
	}
	switch {
	case f.kind == dto.MetricType_HISTOGRAM && in.Histogram != nil:
		m.histogram, err = decodeHistogram(in.Histogram)
		return m, err
	case f.kind == dto.MetricType_COUNTER && in.Counter != nil:
		m.value = in.Counter.GetValue()
	case f.kind == dto.MetricType_GAUGE && in.Gauge != nil:
		m.value = in.Gauge.GetValue()
	default:
		return m, fmt.Errorf("found no value of the type %v", f.kind)
	}
	if !(m.value >= 0) || math.IsInf(m.value, 0) {
		return m, fmt.Errorf("wanted a number of at least 0, found %v", m.value)
	}
	return m, nil
}

// check looks at what only the whole snapshot shows, and puts lists in order.
func (s *Snapshot) check() error {
	if s.RunUID == "" {
		return errors.New("found no etcdbench_pod_info; is this the metrics port of a client pod?")
	}
	if s.Target != nil {
		slices.SortFunc(s.Target.Members, compareMembers)
		slices.SortStableFunc(s.Target.Changes, func(a, b Change) int { return a.At.Compare(b.At) })
	}
	slices.Sort(s.Omitted)
	if err := errors.Join(s.Timeline.check(), s.Watch.check(), s.checkFired()); err != nil {
		return err
	}
	for kind, d := range s.Disturbances {
		if err := d.check(); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	for operation, result := range s.Operations {
		if err := result.check(s.Stage == StageDone); err != nil {
			return fmt.Errorf("operation %s: %w", operation, err)
		}
	}
	s.bound()
	return nil
}

// maxBuckets bounds the buckets of all histograms of a decoded snapshot, to half a
// MiB. Five operations that each are recorded in three histograms have 4,369 for
// each: requests of 1 µs to 5 h.
const maxBuckets = 1 << 16

// bound halves the resolution of all histograms, as often as is needed: somebody
// who keeps them must know how much memory they take, whatever a pod sends.
func (s *Snapshot) bound() {
	for schema := MaxSchema - 1; schema >= MinSchema && s.countBuckets() > maxBuckets; schema-- {
		for _, result := range s.Operations {
			for _, h := range result.all() {
				h.Reduce(schema)
			}
		}
	}
}

func (s *Snapshot) countBuckets() int {
	n := 0
	for _, result := range s.Operations {
		for _, h := range result.all() {
			n += len(h.counts)
		}
	}
	return n
}

func (r *OperationResult) all() []*Histogram {
	return []*Histogram{&r.Latency, &r.Service, &r.Lateness, &r.Failed, &r.Censored}
}

// check finds counts that contradict each other. Counters are read one after
// the other while the load runs, so only those of a final snapshot must agree.
func (r *OperationResult) check(final bool) error {
	for _, h := range r.all() {
		if err := h.check(); err != nil {
			return err
		}
	}
	var failed uint64
	for _, n := range r.Errors {
		failed += n
	}
	if final && failed != r.Failed.count {
		return fmt.Errorf("wanted %d errors, as many as failed requests, found %d", r.Failed.count, failed)
	}
	if final && r.Lost > r.Latency.count {
		return fmt.Errorf("wanted at most %d lost requests, as many as successes, found %d", r.Latency.count, r.Lost)
	}
	if final && r.Attempts > 0 && r.Attempts < r.Latency.count {
		return fmt.Errorf("wanted at least %d attempts, one for each success, found %d", r.Latency.count, r.Attempts)
	}
	return nil
}

// check finds a minimum or a maximum that no duration in the buckets can have,
// and a sum of squares that would overflow.
func (h *Histogram) check() error {
	if h.minimum > h.maximum {
		return fmt.Errorf("wanted a minimum of at most %d ns, the maximum, found %d ns", h.maximum, h.minimum)
	}
	if h.sumSquares > maxSeconds*maxSeconds*float64(h.count) {
		return fmt.Errorf("wanted the squares of %d durations, found %v square seconds", h.count, h.sumSquares)
	}
	if h.counts == nil {
		return nil
	}
	low, high := coarser(BucketIndex(h.minimum), h.halvings), coarser(BucketIndex(h.maximum), h.halvings)
	for bucket, n := range h.buckets() {
		if bucket < low || bucket > high {
			return fmt.Errorf("wanted durations between %d and %d ns, found %d around %.0f ns",
				h.minimum, h.maximum, n, midpoint(h.Schema(), bucket))
		}
	}
	return nil
}
