package wire

import (
	"fmt"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// maxMessages bounds the number of protobuf messages in a snapshot. A message takes a byte or two on the wire but a
// hundred times that in memory after decoding, so a limit on bytes alone is not enough.
const maxMessages = 1 << 16

// unmarshalFamilies reads length-delimited families.
func unmarshalFamilies(data []byte) ([]*dto.MetricFamily, error) {
	var all []*dto.MetricFamily
	left := messageRoom(maxMessages)
	for len(data) > 0 {
		text, n := protowire.ConsumeBytes(data)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		mf := &dto.MetricFamily{}
		if err := left.take(text, mf.ProtoReflect().Descriptor()); err != nil {
			return nil, err
		}
		if err := proto.Unmarshal(text, mf); err != nil {
			return nil, err
		}
		all, data = append(all, mf), data[n:]
	}
	return all, nil
}

// messageRoom is the number of messages that may still follow.
type messageRoom int

// take counts a message and its nested messages before they are decoded. The nesting is limited by the message types.
func (r *messageRoom) take(text []byte, of protoreflect.MessageDescriptor) error {
	if *r--; *r < 0 {
		return fmt.Errorf("wanted at most %d metrics, labels and buckets, found more", maxMessages)
	}
	for len(text) > 0 {
		number, kind, n := protowire.ConsumeField(text)
		if n < 0 {
			return protowire.ParseError(n)
		}
		// Most fields are counts of buckets, so only those that can be messages are looked up.
		if kind == protowire.BytesType {
			if field := of.Fields().ByNumber(number); field != nil && field.Message() != nil {
				if err := r.take(fieldBytes(text[:n]), field.Message()); err != nil {
					return err
				}
			}
		}
		text = text[n:]
	}
	return nil
}

// fieldBytes returns the content of a field, without its tag and its length.
func fieldBytes(field []byte) []byte {
	_, _, tag := protowire.ConsumeTag(field)
	content, _ := protowire.ConsumeBytes(field[tag:])
	return content
}
