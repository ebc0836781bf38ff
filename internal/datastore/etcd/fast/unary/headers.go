package unary

import (
	"strconv"
	"strings"

	"golang.org/x/net/http2/hpack"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
)

// Bounds for header blocks: of their fields as HPACK counts them, and of their
// encoding in bytes and in frames.
const (
	maxHeaderList  = 64 << 10
	maxHeaderBlock = 64 << 10
	maxBlockFrames = 1024
)

// continuation is a header block of which more is to come.
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

// onBlock acts on a whole header block. It is decoded even if its stream has
// ended: later blocks refer to the table that it may change.
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
	case s.headed:
		c.reset(s, frame.ProtocolError, Internal, "the server sent headers in the middle of the response")
	case informational(fields.status):
	case fields.status != "200" || !fields.grpc:
		c.reset(s, frame.Cancel, codeOfHTTP(fields.status), fields.whatCame())
	default:
		s.headed = true
	}
	return nil
}

// informational says whether a status announces another one.
func informational(status string) bool { return len(status) == 3 && status[0] == '1' }

// onTrailers ends a call as the server says.
func (c *Conn) onTrailers(s *Stream, fields *headerFields) {
	code, ok := parseCode(fields.grpcStatus)
	switch {
	case !ok && !s.headed && (fields.status != "200" || !fields.grpc):
		c.finish(s, codeOfHTTP(fields.status), fields.whatCame())
	case !ok:
		c.finish(s, Unknown, "the server ended the call without a grpc-status")
	case code == OK && !s.answered:
		c.finish(s, Internal, "the server ended the call without a response")
	case code == OK:
		c.finish(s, OK, "")
	default:
		c.finish(s, code, decodePercent(fields.grpcMessage))
	}
}

// finish ends a call whose stream the server has ended. If the request has not
// left yet, it need not leave any more.
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
	// known are the last two short blocks of nothing but indices: nearly all
	// responses of a server have the same two. They mean the same as long as no
	// other block may have changed the table.
	known [2]knownBlock
}

// knownBlock is a block and what it means. An empty one is none.
type knownBlock struct {
	bytes  [maxKnown]byte
	length int
	fields headerFields
}

// maxKnown is the longest block that is worth knowing, in bytes.
const maxKnown = 8

// headerFields are the fields that matter of one block.
type headerFields struct {
	status, contentType, grpcStatus, grpcMessage string
	// grpc: the content-type is gRPC's.
	grpc bool
	// size of all fields, as HPACK counts it.
	size int
}

// whatCame describes what is not a response of gRPC, such as a proxy's page.
func (f *headerFields) whatCame() string {
	what := "the server answered with HTTP status " + f.status
	switch {
	case f.grpc:
		return what
	case f.contentType == "":
		return what + " and no content-type"
	}
	return what + " and content-type " + strconv.Quote(f.contentType)
}

// isGRPC says whether a content-type is gRPC's: alone, with the encoding of its
// messages, or with parameters.
func isGRPC(contentType string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(contentType), "application/grpc")
	return ok && (rest == "" || rest[0] == '+' || rest[0] == ';')
}

func (r *headerReader) init() {
	r.decoder = hpack.NewDecoder(frame.DefaultTableSize, r.emit)
	r.decoder.SetMaxStringLength(maxHeaderList)
}

func (r *headerReader) read(block []byte) (*headerFields, error) {
	for i := range r.known {
		if k := &r.known[i]; k.length > 0 && string(k.bytes[:k.length]) == string(block) {
			return &k.fields, nil
		}
	}
	r.fields = headerFields{}
	_, err := r.decoder.Write(block)
	if err == nil {
		err = r.decoder.Close()
	}
	r.learn(block)
	return &r.fields, err
}

// learn remembers a block that left the table as it was, and forgets the
// others after one that may not have.
func (r *headerReader) learn(block []byte) {
	if !onlyIndices(block) {
		r.known = [2]knownBlock{}
		return
	}
	if len(block) > maxKnown {
		return
	}
	r.known[1] = r.known[0]
	k := &r.known[0]
	k.length, k.fields = copy(k.bytes[:], block), r.fields
}

// onlyIndices says whether each byte of a block is an indexed field (RFC 7541,
// section 6.1) whose index needs no second byte.
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
