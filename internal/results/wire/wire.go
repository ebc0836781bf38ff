package wire

import (
	"fmt"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// maxMessages bounds the protobuf messages that a snapshot is made of. One takes
// a byte or two on the wire and, once it is read, a hundred times that in memory,
// so that a bound on bytes alone bounds little.
const maxMessages = 1 << 16

// unmarshalFamilies reads families that each have their length before them.
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

// messageRoom is how many messages may still come.
type messageRoom int

// take counts a message, and those within it, before they are made. They can be
// nested no deeper than their type is.
func (r *messageRoom) take(text []byte, of protoreflect.MessageDescriptor) error {
	if *r--; *r < 0 {
		return fmt.Errorf("wanted at most %d metrics, labels and buckets, found more", maxMessages)
	}
	for len(text) > 0 {
		number, kind, n := protowire.ConsumeField(text)
		if n < 0 {
			return protowire.ParseError(n)
		}
		field := of.Fields().ByNumber(number)
		if kind == protowire.BytesType && field != nil && field.Message() != nil {
			if err := r.take(fieldBytes(text[:n]), field.Message()); err != nil {
				return err
			}
		}
		text = text[n:]
	}
	return nil
}

// fieldBytes is what a field holds, without its tag and its length.
func fieldBytes(field []byte) []byte {
	_, _, tag := protowire.ConsumeTag(field)
	content, _ := protowire.ConsumeBytes(field[tag:])
	return content
}
