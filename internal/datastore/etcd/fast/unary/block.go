package unary

import (
	"bytes"
	"math"

	"golang.org/x/net/http2/hpack"
)

// headerBlocks renders the header blocks of requests. A block that changed
// nothing in the header table is kept and used again until the table changes.
type headerBlocks struct {
	config  *Config
	encoder *hpack.Encoder
	scratch bytes.Buffer
	token   string
	kept    [][]byte
}

func (b *headerBlocks) init(config *Config) {
	b.config = config
	b.encoder = hpack.NewEncoder(&b.scratch)
	b.kept = make([][]byte, len(config.Methods))
}

// setToken sets the token that later blocks carry.
func (b *headerBlocks) setToken(token string) {
	if token != b.token {
		b.token = token
		b.forget()
	}
}

// setTableSize obeys the peer's SETTINGS_HEADER_TABLE_SIZE. The next block
// announces the size.
func (b *headerBlocks) setTableSize(size uint32) {
	b.encoder.SetMaxDynamicTableSizeLimit(size)
	b.encoder.SetMaxDynamicTableSize(min(size, maxEncoderTable))
	b.forget()
}

// maxEncoderTable is the most that this side uses of a header table, in bytes.
const maxEncoderTable = 4096

// forget drops the kept blocks: their indices mean something else now.
func (b *headerBlocks) forget() { clear(b.kept) }

// append appends the block of a method's call.
func (b *headerBlocks) append(dst []byte, method int) []byte {
	if kept := b.kept[method]; kept != nil {
		return append(dst, kept...)
	}
	b.scratch.Reset()
	if b.render(method) {
		b.kept[method] = bytes.Clone(b.scratch.Bytes())
	} else {
		b.forget()
	}
	dst = append(dst, b.scratch.Bytes()...)
	b.release()
	return dst
}

// release gives a buffer back that a long token has made large.
func (b *headerBlocks) release() {
	if b.scratch.Cap() > math.MaxUint8 {
		b.scratch = bytes.Buffer{}
	}
}

// render encodes a block and says whether the same bytes would mean the same
// once more: whether it changed nothing in the table.
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

// field encodes one field and says whether the table is as before. Its first
// byte tells (RFC 7541, section 6): 01 inserts, 001 resizes.
func (b *headerBlocks) field(name, value string, sensitive bool) (stable bool) {
	start := b.scratch.Len()
	// Writing to a bytes.Buffer cannot fail.
	_ = b.encoder.WriteField(hpack.HeaderField{Name: name, Value: value, Sensitive: sensitive})
	first := b.scratch.Bytes()[start]
	return first&0xc0 != 0x40 && first&0xe0 != 0x20
}
