package message

import "google.golang.org/protobuf/encoding/protowire"

func appendBytes(dst []byte, field protowire.Number, value []byte) []byte {
	if len(value) == 0 {
		return dst
	}
	return protowire.AppendBytes(protowire.AppendTag(dst, field, protowire.BytesType), value)
}

func appendInt(dst []byte, field protowire.Number, value int64) []byte {
	if value == 0 {
		return dst
	}
	return protowire.AppendVarint(protowire.AppendTag(dst, field, protowire.VarintType), uint64(value))
}

func appendBool(dst []byte, field protowire.Number, value bool) []byte {
	return appendInt(dst, field, int64(protowire.EncodeBool(value)))
}

// openNested begins a nested message. Its content is appended next. start is where the content lies if its length takes
// one byte.
func openNested(dst []byte, field protowire.Number) (opened []byte, start int) {
	dst = append(protowire.AppendTag(dst, field, protowire.BytesType), 0)
	return dst, len(dst)
}

// closeNested ends the message that begins at start, and moves it if its length takes more than one byte.
func closeNested(dst []byte, start int) []byte {
	length := len(dst) - start
	for range protowire.SizeVarint(uint64(length)) - 1 {
		dst = append(dst, 0)
	}
	copy(dst[len(dst)-length:], dst[start:start+length])
	protowire.AppendVarint(dst[:start-1], uint64(length))
	return dst
}
