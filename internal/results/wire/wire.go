package wire

import (
	"errors"
	"fmt"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// maxMessages bounds the number of protobuf messages in a snapshot. A message takes a byte or two on the wire but a
// hundred times that in memory after decoding, so a limit on bytes alone is not enough.
const maxMessages = 1 << 16

// encodedFamily is a family whose histograms are still encoded; see decodeHistogram.
type encodedFamily struct {
	*dto.MetricFamily
	// histograms are those of the metrics, in their order; nil for a metric without one.
	histograms [][]byte
}

// readFamilies reads length-delimited families.
func readFamilies(data []byte) ([]encodedFamily, error) {
	var all []encodedFamily
	left := messageRoom(maxMessages)
	for len(data) > 0 {
		text, n := protowire.ConsumeBytes(data)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		f := encodedFamily{MetricFamily: &dto.MetricFamily{}}
		rest, err := f.cut(text)
		if err != nil {
			return nil, err
		}
		if err := left.take(rest, f.ProtoReflect().Descriptor()); err != nil {
			return nil, err
		}
		if err := proto.Unmarshal(rest, f.MetricFamily); err != nil {
			return nil, err
		}
		all, data = append(all, f), data[n:]
	}
	return all, nil
}

// Numbers of the fields of Prometheus's MetricFamily and Metric.
const (
	fieldMetric    = 4
	fieldHistogram = 7
)

// cut moves the histograms out of an encoded family, and returns the rest.
func (f *encodedFamily) cut(family []byte) (rest []byte, err error) {
	rest = make([]byte, 0, min(len(family), 4096))
	err = eachField(family, func(number protowire.Number, kind protowire.Type, field []byte) error {
		if number != fieldMetric || kind != protowire.BytesType {
			rest = append(rest, field...)
			return nil
		}
		if len(f.histograms) == maxMessages {
			return errTooMany
		}
		var without, histogram []byte
		err := eachField(fieldBytes(field), func(number protowire.Number, kind protowire.Type, field []byte) error {
			switch {
			case number != fieldHistogram || kind != protowire.BytesType:
				without = append(without, field...)
			case histogram != nil:
				return errors.New("found a metric with two histograms")
			default:
				histogram = fieldBytes(field)
			}
			return nil
		})
		f.histograms = append(f.histograms, histogram)
		rest = protowire.AppendBytes(protowire.AppendTag(rest, fieldMetric, protowire.BytesType), without)
		return err
	})
	return rest, err
}

// eachField calls do for each field of a message, with its tag.
func eachField(message []byte, do func(number protowire.Number, kind protowire.Type, field []byte) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeField(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		if err := do(number, kind, message[:n]); err != nil {
			return err
		}
		message = message[n:]
	}
	return nil
}

// eachValue calls do for each field of a message, without its tag.
func eachValue(message []byte, do func(number protowire.Number, kind protowire.Type, value []byte) error) error {
	return eachField(message, func(number protowire.Number, kind protowire.Type, field []byte) error {
		_, _, tag := protowire.ConsumeTag(field)
		return do(number, kind, field[tag:])
	})
}

// messageRoom is the number of messages that may still follow.
type messageRoom int

var errTooMany = fmt.Errorf("wanted at most %d metrics and labels, found more", maxMessages)

// take counts a message and its nested messages before they are decoded. The nesting is limited by the message types.
func (r *messageRoom) take(text []byte, of protoreflect.MessageDescriptor) error {
	if *r--; *r < 0 {
		return errTooMany
	}
	return eachField(text, func(number protowire.Number, kind protowire.Type, text []byte) error {
		if kind != protowire.BytesType {
			return nil
		}
		if field := of.Fields().ByNumber(number); field != nil && field.Message() != nil {
			return r.take(fieldBytes(text), field.Message())
		}
		return nil
	})
}

// fieldBytes returns the content of a field, without its tag and its length.
func fieldBytes(field []byte) []byte {
	_, _, tag := protowire.ConsumeTag(field)
	content, _ := protowire.ConsumeBytes(field[tag:])
	return content
}
