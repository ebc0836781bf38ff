package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"slices"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/encoding/protodelim"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// ScrapeAccept is the Accept header that a scrape must send, because only Prometheus's protobuf format has native
// histograms.
const ScrapeAccept = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"

// MaxScrapeBytes bounds what Read accepts from one pod. A full snapshot with all histograms at full width takes less
// than a tenth of it.
const MaxScrapeBytes = 5 << 20

// Read reads and decodes a decompressed scrape; contentType is its Content-Type header.
func Read(r io.Reader, contentType string) (*results.Snapshot, error) {
	var data bytes.Buffer
	if err := ReadScrape(&data, r, contentType); err != nil {
		return nil, err
	}
	return DecodeScrape(data.Bytes())
}

// ReadScrape reads a decompressed scrape into a buffer, without decoding it.
func ReadScrape(into *bytes.Buffer, r io.Reader, contentType string) error {
	mediaType, params, err := mime.ParseMediaType(contentType)
	if err != nil || mediaType != "application/vnd.google.protobuf" || params["encoding"] != "delimited" {
		return fmt.Errorf("reading results: wanted content of the type %s, found %.64q; is this the metrics port of a client pod?",
			ScrapeAccept, contentType)
	}
	if _, err := into.ReadFrom(io.LimitReader(r, MaxScrapeBytes+1)); err != nil {
		return fmt.Errorf("reading results: %w", err)
	}
	if into.Len() > MaxScrapeBytes {
		return fmt.Errorf("reading results: wanted at most %d bytes, found more", MaxScrapeBytes)
	}
	return nil
}

// DecodeScrape decodes what ReadScrape has read. The snapshot does not share memory with data. It ignores families of
// other packages, and reads those of the timeline as well, which termination messages have. Members of the target are sorted
// by name.
func DecodeScrape(data []byte) (*results.Snapshot, error) {
	all, err := readFamilies(data)
	if err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	return decode(all)
}

// Decode is the inverse of Families.
func Decode(all []*dto.MetricFamily) (*results.Snapshot, error) {
	var data bytes.Buffer
	for _, mf := range all {
		if _, err := protodelim.MarshalTo(&data, mf); err != nil {
			return nil, fmt.Errorf("decoding results: %w", err)
		}
	}
	return DecodeScrape(data.Bytes())
}

func decode(all []encodedFamily) (*results.Snapshot, error) {
	s := &results.Snapshot{Operations: map[spec.Operation]*results.OperationResult{}, Requests: map[spec.RPC]map[results.Phase]uint64{}}
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
	if err := finish(s); err != nil {
		return nil, fmt.Errorf("decoding results: %w", err)
	}
	return s, nil
}

func (f *family) decode(s *results.Snapshot, mf encodedFamily) error {
	if mf.GetType() != f.kind {
		return fmt.Errorf("wanted the type %v, found %v", f.kind, mf.GetType())
	}
	seen := map[string]bool{}
	for i, in := range mf.Metric {
		m, err := f.decodeMetric(in, mf.histograms[i])
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

// decodeMetric refuses values that are negative or not a number; a snapshot has none. histogram is nil if it has none.
func (f *family) decodeMetric(in *dto.Metric, histogram []byte) (m metric, err error) {
	if m.labels, err = f.labelValues(in.Label); err != nil {
		return m, err
	}
	switch {
	case f.kind == dto.MetricType_HISTOGRAM && histogram != nil:
		m.histogram, err = decodeHistogram(histogram)
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

// finish sorts lists and checks what only the whole snapshot shows.
func finish(s *results.Snapshot) error {
	if s.RunUID == "" {
		return errors.New("found no etcdbench_pod_info; is this the metrics port of a client pod?")
	}
	if s.Target != nil {
		slices.SortFunc(s.Target.Members, compareMembers)
		slices.SortStableFunc(s.Target.Changes, func(a, b results.Change) int { return a.At.Compare(b.At) })
	}
	slices.Sort(s.Omitted)
	if err := s.Check(); err != nil {
		return err
	}
	s.Bound()
	return nil
}
