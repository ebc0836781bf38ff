package wire

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Numbers of the fields of Prometheus's Histogram.
const (
	fieldSampleCount   = 1
	fieldSampleSum     = 2
	fieldFloatCount    = 4
	fieldSchema        = 5
	fieldZeroThreshold = 6
	fieldZeroCount     = 7
	fieldZeroFloats    = 8
	fieldNegativeSpan  = 9
	fieldNegativeDelta = 10
	fieldNegativeCount = 11
	fieldPositiveSpan  = 12
	fieldPositiveDelta = 13
	fieldPositiveCount = 14
)

// native are the fields of an encoded histogram. Classic buckets are left out.
type native struct {
	count, zeros        uint64
	seconds, threshold  float64
	schema              int
	hasSchema, hasZeros bool
	spans               []span
	// deltas are the differences between neighbouring counts, as varints. They may share memory with the message.
	deltas []byte
}

// span are neighbouring buckets: offset counts from the end of the span before.
type span struct {
	offset int32
	length uint32
}

// decodeHistogram is the inverse of nativeHistogram, and of packCounts. It reads the encoded message: decoding it to Go types
// of protobuf takes many times the memory and the time. Minimum, maximum and sum of squares are separate metrics.
func decodeHistogram(message []byte) (*results.Histogram, error) {
	var in native
	if err := eachValue(message, in.read); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	p := results.Parts{Schema: results.MaxSchema, Count: in.count, Sum: math.Round(in.seconds * nanosecondsPerSecond)}
	if !in.hasSchema {
		h, err := results.HistogramOf(p)
		return &h, err
	}
	p.Schema = in.schema
	var packer results.Packer
	if err := in.pack(&packer); err != nil {
		return nil, err
	}
	h, err := packer.Histogram(p)
	return &h, err
}

// read reads one field. Like every protobuf decoder it ignores fields that it does not know.
func (in *native) read(number protowire.Number, kind protowire.Type, value []byte) (err error) {
	switch kind {
	case protowire.VarintType:
		n, _ := protowire.ConsumeVarint(value)
		return in.readVarint(number, n, value)
	case protowire.Fixed64Type:
		bits, _ := protowire.ConsumeFixed64(value)
		return in.readFloat(number, math.Float64frombits(bits))
	case protowire.BytesType:
		content, _ := protowire.ConsumeBytes(value)
		return in.readBytes(number, content)
	}
	return nil
}

func (in *native) readVarint(number protowire.Number, n uint64, encoded []byte) error {
	switch number {
	case fieldSampleCount:
		in.count = n
	case fieldSchema:
		in.schema, in.hasSchema = int(int32(protowire.DecodeZigZag(n&math.MaxUint32))), true
	case fieldZeroCount:
		in.zeros, in.hasZeros = n, true
	case fieldPositiveDelta:
		in.deltas = append(in.deltas, encoded...)
	case fieldNegativeDelta:
		return errNegative
	}
	return nil
}

func (in *native) readFloat(number protowire.Number, f float64) error {
	switch number {
	case fieldSampleSum:
		in.seconds = f
	case fieldZeroThreshold:
		in.threshold = f
	case fieldFloatCount, fieldZeroFloats, fieldNegativeCount, fieldPositiveCount:
		return errFloats
	}
	return nil
}

func (in *native) readBytes(number protowire.Number, content []byte) error {
	switch number {
	case fieldPositiveSpan:
		if len(in.spans) == results.Buckets {
			return fmt.Errorf("wanted at most %d spans of buckets, found more", results.Buckets)
		}
		s, err := readSpan(content)
		in.spans = append(in.spans, s)
		return err
	case fieldPositiveDelta:
		if in.deltas == nil {
			// Clipped, so that nothing is ever appended to the message.
			in.deltas = slices.Clip(content)
		} else {
			in.deltas = append(in.deltas, content...)
		}
	case fieldNegativeSpan, fieldNegativeDelta:
		return errNegative
	case fieldNegativeCount, fieldPositiveCount:
		return errFloats
	}
	return nil
}

func readSpan(message []byte) (s span, err error) {
	err = eachValue(message, func(number protowire.Number, kind protowire.Type, value []byte) error {
		if kind != protowire.VarintType {
			return nil
		}
		n, _ := protowire.ConsumeVarint(value)
		switch number {
		case 1:
			s.offset = int32(protowire.DecodeZigZag(n & math.MaxUint32))
		case 2:
			s.length = uint32(n)
		}
		return nil
	})
	return s, err
}

var (
	errFloats   = errors.New("wanted integer counts, found floating-point ones")
	errNegative = errors.New("wanted durations, found buckets for negative values")
)

// check refuses forms of histograms that this package does not write.
func (in *native) check() error {
	switch {
	case in.count > results.MaxCount:
		return fmt.Errorf("wanted at most %d durations, found %d", uint64(results.MaxCount), in.count)
	case !(in.seconds >= 0 && in.seconds <= results.MaxSeconds*float64(in.count)):
		return fmt.Errorf("wanted a sum of %d durations, found %v s", in.count, in.seconds)
	case !in.hasSchema && (in.hasZeros || len(in.spans) > 0 || len(in.deltas) > 0):
		return errors.New("found buckets without a schema")
	case !in.hasSchema:
		return nil
	case in.schema < results.MinSchema || in.schema > results.MaxSchema:
		return fmt.Errorf("wanted a schema from %d to %d, found %d", results.MinSchema, results.MaxSchema, in.schema)
	case in.threshold != results.ZeroThreshold:
		return fmt.Errorf("wanted a zero bucket up to %v s, found %v s", results.ZeroThreshold, in.threshold)
	}
	return nil
}

// pack adds the counts. The offset of the first span counts from the bucket below 1 s, which is the middle one.
func (in *native) pack(out *results.Packer) error {
	out.Grow(len(in.deltas))
	out.Add(0, in.zeros)
	deltas, end := in.deltas, int64(results.BucketCount(in.schema))
	bucket, n := end/2, int64(0)
	for i, s := range in.spans {
		if i > 0 && s.offset < 0 {
			return errors.New("found spans of buckets that overlap")
		}
		bucket += int64(s.offset)
		if bucket < 1 || bucket+int64(s.length) > end {
			return fmt.Errorf("found a span of %d buckets from %d, outside of the buckets from 1 to %d", s.length, bucket, end-1)
		}
		for range s.length {
			delta, size := protowire.ConsumeVarint(deltas)
			if size < 0 {
				return fmt.Errorf("found fewer counts than buckets: %w", protowire.ParseError(size))
			}
			n += protowire.DecodeZigZag(delta)
			if n < 0 || n > results.MaxCount {
				return fmt.Errorf("wanted counts from 0 to %d, found %d", int64(results.MaxCount), n)
			}
			out.Add(int(bucket), uint64(n))
			bucket, deltas = bucket+1, deltas[size:]
		}
		if out.Total() > in.count {
			return fmt.Errorf("wanted buckets that add up to %d, found more", in.count)
		}
	}
	if len(deltas) > 0 {
		return fmt.Errorf("found %d bytes of counts without a bucket", len(deltas))
	}
	return nil
}
