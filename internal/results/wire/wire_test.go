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

// framed is a length-delimited family that repeats a field until the body is full.
func framed(field []byte) []byte {
	const room = MaxScrapeBytes - 64
	name := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "etcdbench_requests_total")
	family := append(name, bytes.Repeat(field, (room-len(name))/len(field))...)
	return protowire.AppendBytes(nil, family)
}

// field encodes a message as a field of another one.
func field(number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
}

// A message of one or two bytes on the wire takes a hundred bytes in memory.
func TestReadingTheWorstTakesLittleMemory(t *testing.T) {
	const metric, label, histogram, bucket, span = 4, 1, 7, 3, 12
	tests := map[string][]byte{
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
