package wire

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/encoding/protodelim"

	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// MaxTerminationBytes bounds a termination message. A pod's messages share 12 KiB among all its containers, injected
// ones too, and one has at most 4 KiB.
const MaxTerminationBytes = 3000

const (
	// terminationMark begins the line for programs. Its number is the version of the format after it.
	terminationMark = "etcdbench-result-25:"
	// maxHeadline bounds the line for people.
	maxHeadline = 160
	// maxInflated bounds the decompressed size of a message: more than ten histograms with the longest encoding of each
	// bucket.
	maxInflated = 1 << 20
	// terminationHeader is the size of checksum and length before the compressed data.
	terminationHeader = 4 + 2
)

var terminationBase64 = base64.RawStdEncoding

// encodeTermination writes a line for people and a line for programs. The second line has the families with native
// buckets only, compressed, with length and checksum.
func encodeTermination(s *results.Snapshot, d deflater) []byte {
	compressed := d.deflate(marshalNative(s))
	packed := make([]byte, terminationHeader, terminationHeader+len(compressed))
	binary.BigEndian.PutUint32(packed, terminationChecksum(compressed))
	// A longer one does not fit into a message anyway.
	binary.BigEndian.PutUint16(packed[4:], uint16(min(len(compressed), 1<<16-1)))
	packed = append(packed, compressed...)
	text := append([]byte(headline(s)), '\n')
	text = append(text, terminationMark...)
	return terminationBase64.AppendEncode(text, packed)
}

// headline is the line that kubectl describe shows.
func headline(s *results.Snapshot) string {
	line := "etcdbench: " + string(s.Stage)
	if s.Failure != nil {
		line = fmt.Sprintf("etcdbench: %s: %s", s.Failure.Reason, s.Failure.Message)
	}
	return text.Shorten(line, maxHeadline)
}

func marshalNative(s *results.Snapshot) []byte {
	var out bytes.Buffer
	for _, mf := range encode(s, func(h *results.Histogram) *dto.Histogram { return packCounts(nativeHistogram(h)) }) {
		mf.Help = nil
		// Writing to a buffer does not fail. Families have no required fields and only valid text.
		_, _ = protodelim.MarshalTo(&out, mf)
	}
	return out.Bytes()
}

// terminationChecksum includes the dictionary, so that a message of another version is refused and not decoded to wrong
// values.
func terminationChecksum(compressed []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(terminationDictionary), crc32.IEEETable, compressed)
}

// deflater compresses one text after the other. It has 0.8 MB of memory, and a message is compressed dozens of times
// until it has the best resolution that fits.
type deflater struct{ w *flate.Writer }

func newDeflater() deflater {
	// The level is valid.
	w, _ := flate.NewWriterDict(io.Discard, flate.BestCompression, terminationDictionary)
	return deflater{w}
}

// deflate keeps nothing of earlier texts.
func (d deflater) deflate(data []byte) []byte {
	var out bytes.Buffer
	// The dictionary remains. Writing to a buffer does not fail.
	d.w.Reset(&out)
	_, _ = d.w.Write(data)
	_ = d.w.Close()
	return out.Bytes()
}

func inflate(compressed []byte) ([]byte, error) {
	r := flate.NewReaderDict(bytes.NewReader(compressed), terminationDictionary)
	data, err := io.ReadAll(io.LimitReader(r, maxInflated+1))
	if err == nil && len(data) > maxInflated {
		err = fmt.Errorf("wanted at most %d bytes unpacked, found more", maxInflated)
	}
	return data, err
}

// DecodeTerminationMessage is the inverse of TerminationMessage. It refuses messages that are truncated or changed.
func DecodeTerminationMessage(message []byte) (*results.Snapshot, error) {
	compressed, err := openTermination(message)
	if err != nil {
		return nil, fmt.Errorf("termination message: %w", err)
	}
	data, err := inflate(compressed)
	if err != nil {
		return nil, fmt.Errorf("termination message: %w", err)
	}
	s, err := DecodeScrape(data)
	if err != nil {
		return nil, fmt.Errorf("termination message: %w", err)
	}
	return s, nil
}

// openTermination checks length and checksum and returns the compressed part.
func openTermination(message []byte) ([]byte, error) {
	_, text, found := bytes.Cut(message, []byte(terminationMark))
	if !found {
		return nil, fmt.Errorf("wanted %q, found %.64q", terminationMark, message)
	}
	packed, err := terminationBase64.AppendDecode(nil, bytes.TrimSpace(text))
	if err != nil {
		return nil, err
	}
	if len(packed) < terminationHeader {
		return nil, errors.New("found only the beginning of it")
	}
	compressed := packed[terminationHeader:]
	if wanted := int(binary.BigEndian.Uint16(packed[4:])); len(compressed) != wanted {
		return nil, fmt.Errorf("wanted %d bytes, found %d", wanted, len(compressed))
	}
	if terminationChecksum(compressed) != binary.BigEndian.Uint32(packed) {
		return nil, errors.New("the checksum is wrong: the message was changed, or written by another version")
	}
	return compressed, nil
}
