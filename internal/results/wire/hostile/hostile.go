// Package hostile changes metric families in ways that no client pod does, for tests of their readers.
//
// It imports only Prometheus types, and only tests import it.
package hostile

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"
)

// instruction is the number of bytes per change: the kind of change, the family (two bytes), the metric of the family,
// and a number as operand.
const instruction = 12

// Change changes families in place and returns the remaining ones.
func Change(all []*dto.MetricFamily, program []byte) []*dto.MetricFamily {
	for ; len(program) >= instruction && len(all) > 0; program = program[instruction:] {
		at := int(binary.LittleEndian.Uint16(program[1:])) % len(all)
		number := binary.LittleEndian.Uint64(program[4:])
		switch kind := int(program[0]) % (len(metricChanges) + len(familyChanges)); {
		case kind < len(familyChanges):
			all = familyChanges[kind](all, at, number)
		case len(all[at].Metric) > 0:
			m := all[at].Metric[int(program[3])%len(all[at].Metric)]
			metricChanges[kind-len(familyChanges)](m, number)
		}
	}
	return all
}

// Number returns the instruction for a change of a metric; change is its index among the changes of metrics.
func Number(change int, family uint16, metric uint8, number uint64) []byte {
	out := binary.LittleEndian.AppendUint16([]byte{byte(change + len(familyChanges))}, family)
	return binary.LittleEndian.AppendUint64(append(out, metric), number)
}

// MetricChanges is the number of changes of metrics.
var MetricChanges = len(metricChanges)

// texts are the values that labels are set to.
var texts = []string{
	"", "0", "1", "63", "599", "-1", "9999999", "Put", "Range", "WatchEvent", "Done", "Compact", "Alarm", "Leader", "measured",
	"a\nb", "\x1b[2J", "\xff", "\u202e", strings.Repeat("x", 512), strings.Repeat("é", 256), strings.Repeat("x", 513),
}

var familyChanges = []func(all []*dto.MetricFamily, at int, number uint64) []*dto.MetricFamily{
	func(all []*dto.MetricFamily, at int, _ uint64) []*dto.MetricFamily {
		return slices.Delete(all, at, at+1)
	},
	func(all []*dto.MetricFamily, at int, _ uint64) []*dto.MetricFamily { return append(all, all[at]) },
	func(all []*dto.MetricFamily, at int, number uint64) []*dto.MetricFamily {
		if metrics := all[at].Metric; len(metrics) > 0 {
			copied := proto.Clone(metrics[number%uint64(len(metrics))]).(*dto.Metric)
			setLabel(copied, number>>8)
			all[at].Metric = append(metrics, copied)
		}
		return all
	},
	func(all []*dto.MetricFamily, at int, number uint64) []*dto.MetricFamily {
		if metrics := all[at].Metric; len(metrics) > 0 {
			i := int(number % uint64(len(metrics)))
			all[at].Metric = slices.Delete(metrics, i, i+1)
		}
		return all
	},
}

var metricChanges = []func(m *dto.Metric, number uint64){
	setLabel,
	func(m *dto.Metric, number uint64) { setValue(m, float64(number%100)) },
	func(m *dto.Metric, number uint64) { setValue(m, float64(number)) },
	func(m *dto.Metric, number uint64) { setValue(m, math.Float64frombits(number)) },
	func(m *dto.Metric, number uint64) { histogramOf(m).SampleCount = &number },
	func(m *dto.Metric, number uint64) {
		histogramOf(m).SampleSum = proto.Float64(math.Float64frombits(number))
	},
	func(m *dto.Metric, number uint64) { histogramOf(m).Schema = proto.Int32(int32(number)) },
	func(m *dto.Metric, number uint64) { histogramOf(m).ZeroCount = &number },
	func(m *dto.Metric, number uint64) {
		histogramOf(m).ZeroThreshold = proto.Float64(math.Float64frombits(number))
	},
	changeSpan,
	addSpan,
	changeDelta,
	moveCount,
}

func setLabel(m *dto.Metric, number uint64) {
	if len(m.Label) > 0 {
		label := m.Label[number>>8%uint64(len(m.Label))]
		label.Value = &texts[number%uint64(len(texts))]
	}
}

func setValue(m *dto.Metric, v float64) {
	if m.Counter != nil {
		m.Counter.Value = &v
	}
	if m.Gauge != nil {
		m.Gauge.Value = &v
	}
}

// histogramOf returns an unused histogram if the metric has none.
func histogramOf(m *dto.Metric) *dto.Histogram {
	if m.Histogram != nil {
		return m.Histogram
	}
	return &dto.Histogram{}
}

func changeSpan(m *dto.Metric, number uint64) {
	if spans := histogramOf(m).PositiveSpan; len(spans) > 0 {
		span := spans[number>>48%uint64(len(spans))]
		span.Offset, span.Length = proto.Int32(int32(number)), proto.Uint32(uint32(number>>32))
	}
}

// addSpan adds a valid span: one bucket with its own count.
func addSpan(m *dto.Metric, number uint64) {
	h := histogramOf(m)
	h.PositiveSpan = append(h.PositiveSpan, &dto.BucketSpan{Offset: proto.Int32(int32(number % 1000)), Length: proto.Uint32(1)})
	h.PositiveDelta = append(h.PositiveDelta, int64(number>>16))
	h.SampleCount = proto.Uint64(h.GetSampleCount() + number>>16)
}

func changeDelta(m *dto.Metric, number uint64) {
	if deltas := histogramOf(m).PositiveDelta; len(deltas) > 0 {
		deltas[number>>48%uint64(len(deltas))] += int64(number<<16) >> 16
	}
}

// moveCount increases a histogram's first bucket and its total count.
func moveCount(m *dto.Metric, number uint64) {
	h := histogramOf(m)
	if len(h.PositiveDelta) > 1 {
		h.PositiveDelta[0] += int64(number)
		h.PositiveDelta[1] -= int64(number)
		h.SampleCount = proto.Uint64(h.GetSampleCount() + number)
	}
}
