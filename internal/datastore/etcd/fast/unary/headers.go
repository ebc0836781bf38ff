package unary

import (
	"strconv"
	"strings"

	"golang.org/x/net/http2/hpack"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
)

// Limits of header blocks: of their fields as HPACK counts them, and of their encoding in bytes and in frames.
const (
	maxHeaderList  = 64 << 10
	maxHeaderBlock = 64 << 10
	maxBlockFrames = 1024
)

// continuation is an incomplete header block.
type continuation struct {
	// frames so far; 0 if there is no such block.
	frames int
	header frame.Header
	block  []byte
}

func (c *Conn) onHeaders(h frame.Header, payload []byte) error {
	if c.idle(h.Stream) {
		return violation(frame.ProtocolError, "a HEADERS is for a stream that was never opened")
	}
	fragment, ok := frame.Content(h, payload)
	if !ok {
		return violation(frame.ProtocolError, "the padding of a HEADERS is longer than its payload")
	}
	if h.Flags.Has(frame.EndHeaders) {
		return c.onBlock(h, fragment)
	}
	c.continued = continuation{frames: 1, header: h, block: append(c.pool.Take(), fragment...)}
	return nil
}

func (c *Conn) onContinuation(h frame.Header, fragment []byte) error {
	if c.continued.frames == 0 || h.Stream != c.continued.header.Stream {
		return violation(frame.ProtocolError, "a CONTINUATION continues nothing")
	}
	c.continued.frames++
	c.continued.block = append(c.continued.block, fragment...)
	if len(c.continued.block) > maxHeaderBlock || c.continued.frames > maxBlockFrames {
		return violation(frame.EnhanceYourCalm, "a header block does not end")
	}
	if !h.Flags.Has(frame.EndHeaders) {
		return nil
	}
	whole := c.continued
	c.continued = continuation{}
	defer c.pool.Give(whole.block)
	return c.onBlock(whole.header, whole.block)
}

// onBlock handles a complete header block. The block is decoded even if its stream has ended, because it may change the
// table that later blocks use.
func (c *Conn) onBlock(h frame.Header, block []byte) error {
	fields, err := c.header.read(block)
	if err != nil {
		return violation(frame.CompressionError, err.Error())
	}
	s := c.streams.at(h.Stream)
	switch {
	case s == nil:
	case fields.size > maxHeaderList:
		c.reset(s, frame.Cancel, ResourceExhausted, "the response's headers are longer than 64 KiB")
	case h.Flags.Has(frame.EndStream):
		c.onTrailers(s, fields)
	case s.gotHeaders:
		c.reset(s, frame.ProtocolError, Internal, "the server sent headers in the middle of the response")
	case informational(fields.status):
	case fields.status != "200" || !fields.grpc:
		c.reset(s, frame.Cancel, codeOfHTTP(fields.status), fields.describe())
	default:
		s.gotHeaders = true
	}
	return nil
}

// informational returns whether a status is 1xx: another one follows.
func informational(status string) bool { return len(status) == 3 && status[0] == '1' }

// onTrailers ends a call with the server's status.
func (c *Conn) onTrailers(s *Stream, fields *headerFields) {
	code, ok := parseCode(fields.grpcStatus)
	switch {
	case !ok && !s.gotHeaders && (fields.status != "200" || !fields.grpc):
		c.finish(s, codeOfHTTP(fields.status), fields.describe())
	case !ok:
		c.finish(s, Unknown, "the server ended the call without a grpc-status")
	case code == OK && !s.gotMessage:
		c.finish(s, Internal, "the server ended the call without a response")
	case code == OK:
		c.finish(s, OK, "")
	default:
		c.finish(s, code, decodePercent(fields.grpcMessage))
	}
}

// finish ends a call whose stream the server has ended. If the request is not yet sent, the rest of it is dropped.
func (c *Conn) finish(s *Stream, code Code, detail string) {
	if s.unsent != nil {
		c.reset(s, frame.NoError, code, detail)
		return
	}
	c.end(s, code, detail)
}

// headerReader decodes the header blocks of responses.
type headerReader struct {
	decoder *hpack.Decoder
	fields  headerFields
	// cached are the last two short blocks that consist of indices only: nearly all responses of a server have the same
	// two. They are valid until another block may have changed the table.
	cached [2]cachedBlock
}

// cachedBlock is a block with its decoded fields. It is empty if length is 0.
type cachedBlock struct {
	bytes  [maxCachedBlock]byte
	length int
	fields headerFields
}

// maxCachedBlock is the longest block that is cached, in bytes.
const maxCachedBlock = 8

// headerFields are the needed fields of one block.
type headerFields struct {
	status, contentType, grpcStatus, grpcMessage string
	// grpc: the content-type is gRPC's.
	grpc bool
	// size of all fields, as HPACK counts it.
	size int
}

// describe describes a response that is not gRPC, such as a proxy's page.
func (f *headerFields) describe() string {
	what := "the server answered with HTTP status " + f.status
	switch {
	case f.grpc:
		return what
	case f.contentType == "":
		return what + " and no content-type"
	}
	return what + " and content-type " + strconv.Quote(f.contentType)
}

// isGRPC returns whether a content-type is gRPC's: alone, with the encoding of its messages, or with parameters.
func isGRPC(contentType string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(contentType), "application/grpc")
	return ok && (rest == "" || rest[0] == '+' || rest[0] == ';')
}

func (r *headerReader) init() {
	r.decoder = hpack.NewDecoder(frame.DefaultTableSize, r.emit)
	r.decoder.SetMaxStringLength(maxHeaderList)
}

func (r *headerReader) read(block []byte) (*headerFields, error) {
	for i := range r.cached {
		if k := &r.cached[i]; k.length > 0 && string(k.bytes[:k.length]) == string(block) {
			return &k.fields, nil
		}
	}
	r.fields = headerFields{}
	_, err := r.decoder.Write(block)
	if err == nil {
		err = r.decoder.Close()
	}
	r.cache(block)
	return &r.fields, err
}

// cache caches a block that left the table unchanged, and clears the cache after a block that may have changed it.
func (r *headerReader) cache(block []byte) {
	if !onlyIndices(block) {
		r.cached = [2]cachedBlock{}
		return
	}
	if len(block) > maxCachedBlock {
		return
	}
	r.cached[1] = r.cached[0]
	k := &r.cached[0]
	k.length, k.fields = copy(k.bytes[:], block), r.fields
}

// onlyIndices returns whether each byte of a block is an indexed field (RFC 7541, section 6.1) whose index needs no
// second byte.
func onlyIndices(block []byte) bool {
	for _, b := range block {
		if b < 0x80 || b == 0xff {
			return false
		}
	}
	return true
}

func (r *headerReader) emit(f hpack.HeaderField) {
	r.fields.size += int(f.Size())
	switch f.Name {
	case ":status":
		r.fields.status = f.Value
	case "content-type":
		r.fields.contentType, r.fields.grpc = f.Value, isGRPC(f.Value)
	case "grpc-status":
		r.fields.grpcStatus = f.Value
	case "grpc-message":
		r.fields.grpcMessage = f.Value
	}
}
