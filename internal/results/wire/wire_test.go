package wire

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// framed is a length-delimited family of counters that repeats a field until the body is full.
func framed(field []byte) []byte {
	return framedAs("etcdbench_requests_total", dto.MetricType_COUNTER, field)
}

func framedAs(name string, kind dto.MetricType, field []byte) []byte {
	const room = MaxScrapeBytes - 128
	family := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), name)
	family = protowire.AppendVarint(protowire.AppendTag(family, 3, protowire.VarintType), uint64(kind))
	family = append(family, bytes.Repeat(field, (room-len(family))/len(field))...)
	return protowire.AppendBytes(nil, family)
}

// field encodes a message as a field of another one.
func field(number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
}

// A message of one or two bytes on the wire takes a hundred bytes in memory.
func TestReadingTheWorstTakesLittleMemory(t *testing.T) {
	const metric, label, histogram, bucket, span, delta = 4, 1, 7, 3, 12, 13
	label1 := field(label, append(field(1, []byte("operation")), field(2, []byte("Put"))...))
	durations := func(content []byte) []byte {
		return framedAs("etcdbench_request_duration_seconds", dto.MetricType_HISTOGRAM, field(metric, append(label1, field(histogram, content)...)))
	}
	unpacked := protowire.AppendVarint(protowire.AppendTag(nil, delta, protowire.VarintType), 2)
	tests := map[string][]byte{
		"buckets of a histogram":   durations(bytes.Repeat(field(bucket, nil), MaxScrapeBytes/4)),
		"spans of a histogram":     durations(bytes.Repeat(field(span, nil), MaxScrapeBytes/4)),
		"counts of a histogram":    durations(bytes.Repeat(unpacked, MaxScrapeBytes/4)),
		"packs of a histogram":     durations(bytes.Repeat(field(delta, []byte{2}), MaxScrapeBytes/6)),
		"families without content": make([]byte, MaxScrapeBytes),
		"metrics without content":  framed(field(metric, nil)),
		"labels without content":   framed(field(metric, bytes.Repeat(field(label, nil), 1000))),
		"buckets without content":  framed(field(metric, field(histogram, bytes.Repeat(field(bucket, nil), 1000)))),
		"spans without content":    framed(field(metric, field(histogram, bytes.Repeat(field(span, nil), 1000)))),
		"a text without end":       framed(field(metric, field(label, field(2, bytes.Repeat([]byte("x"), 1<<20))))),
	}
	for name, body := range tests {
		t.Run(name, func(t *testing.T) {
			before := allocated()
			if s, err := Read(bytes.NewReader(body), ScrapeAccept); err == nil {
				t.Errorf("read %+v", s)
			}
			if grown := allocated() - before; grown > maxDecodingBytes {
				t.Errorf("allocated %d MiB, wanted at most %d", grown>>20, maxDecodingBytes>>20)
			}
		})
	}
}

func TestTooLargeTargetValuesAreLimited(t *testing.T) {
	s := finalSnapshot(0, 10, spec.OperationPut)
	s.Target.WriteEstimateBytes = 1<<62 + 1
	s.Target.Members[0].QuotaBytes = 1<<63 - 1
	got, err := Decode(withTimeline(s))
	if err != nil {
		t.Fatal(err)
	}
	if got.Target.WriteEstimateBytes != results.MaxBytes || got.Target.Members[0].QuotaBytes != results.MaxBytes {
		t.Errorf("got %+v, wanted what a metric can hold", got.Target)
	}
}

// A reader uses its buffer again.
func TestADecodedSnapshotDoesNotShareMemory(t *testing.T) {
	sent := failingSnapshot()
	for name, all := range map[string][]*dto.MetricFamily{"repeated counts": Families(sent), "packed counts": Served(sent)} {
		body := bodyOf(t, all)
		want, err := DecodeScrape(slices.Clone(body))
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeScrape(body)
		if err != nil {
			t.Fatal(err)
		}
		for i := range body {
			body[i] = 0xff
		}
		if diff := cmp.Diff(want, got, sameSnapshot...); diff != "" {
			t.Errorf("%s: snapshot (-want +got):\n%s", name, diff)
		}
	}
}
