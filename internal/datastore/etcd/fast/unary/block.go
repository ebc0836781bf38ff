package unary

import (
	"bytes"
	"math"

	"golang.org/x/net/http2/hpack"
)

// headerBlocks encodes the header blocks of requests. A block that did not change the header table is cached until the
// table changes.
type headerBlocks struct {
	config  *Config
	encoder *hpack.Encoder
	scratch bytes.Buffer
	token   string
	cached  [][]byte
}

func (b *headerBlocks) init(config *Config) {
	b.config = config
	b.encoder = hpack.NewEncoder(&b.scratch)
	b.cached = make([][]byte, len(config.Methods))
}

// setToken sets the token of later blocks.
func (b *headerBlocks) setToken(token string) {
	if token != b.token {
		b.token = token
		b.forget()
	}
}

// setTableSize applies the peer's SETTINGS_HEADER_TABLE_SIZE. The next block announces the size.
func (b *headerBlocks) setTableSize(size uint32) {
	b.encoder.SetMaxDynamicTableSizeLimit(size)
	b.encoder.SetMaxDynamicTableSize(min(size, maxEncoderTable))
	b.forget()
}

// maxEncoderTable is the largest header table that this side uses, in bytes.
const maxEncoderTable = 4096

// forget drops the cached blocks, because their indices are no longer valid.
func (b *headerBlocks) forget() { clear(b.cached) }

// append appends the block of a method's call.
func (b *headerBlocks) append(dst []byte, method int) []byte {
	if kept := b.cached[method]; kept != nil {
		return append(dst, kept...)
	}
	b.scratch.Reset()
	if b.render(method) {
		b.cached[method] = bytes.Clone(b.scratch.Bytes())
	} else {
		b.forget()
	}
	dst = append(dst, b.scratch.Bytes()...)
	b.release()
	return dst
}

// release drops a buffer that a long token has made large.
func (b *headerBlocks) release() {
	if b.scratch.Cap() > math.MaxUint8 {
		b.scratch = bytes.Buffer{}
	}
}

// render encodes a block. It returns whether the block left the table unchanged, so that the same bytes can be sent
// again.
func (b *headerBlocks) render(method int) (stable bool) {
	stable = b.field(":method", "POST", false)
	stable = b.field(":scheme", b.config.Scheme, false) && stable
	stable = b.field(":path", b.config.Methods[method], false) && stable
	stable = b.field(":authority", b.config.Authority, false) && stable
	stable = b.field("content-type", "application/grpc", false) && stable
	stable = b.field("user-agent", b.config.UserAgent, false) && stable
	stable = b.field("te", "trailers", false) && stable
	if b.token != "" {
		stable = b.field("token", b.token, true) && stable
	}
	return stable
}

// field encodes one field, and returns whether the table is unchanged. The field's first byte shows it (RFC 7541,
// section 6): 01 inserts, 001 resizes.
func (b *headerBlocks) field(name, value string, sensitive bool) (stable bool) {
	start := b.scratch.Len()
	// Writing to a bytes.Buffer cannot fail.
	_ = b.encoder.WriteField(hpack.HeaderField{Name: name, Value: value, Sensitive: sensitive})
	first := b.scratch.Bytes()[start]
	return first&0xc0 != 0x40 && first&0xe0 != 0x20
}
