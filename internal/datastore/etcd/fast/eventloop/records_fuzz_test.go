package eventloop

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"sync"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/eventloop/buffer"
)

// tape is the server's connection. After the handshake it is in memory: it reads from in and writes to out.
type tape struct {
	net.Conn
	recorded bool
	in, out  bytes.Buffer
}

func (c *tape) Read(p []byte) (int, error) {
	if c.recorded {
		return c.in.Read(p)
	}
	return c.Conn.Read(p)
}

func (c *tape) Write(p []byte) (int, error) {
	if c.recorded {
		return c.out.Write(p)
	}
	return c.Conn.Write(p)
}

// piecemeal is a socket that moves its input and output in pieces of the given lengths, repeatedly. Between two pieces
// it is not ready.
type piecemeal struct {
	input, output []byte
	pieces        []byte
	moved         int
	paused        bool
}

// next is how much the socket moves now.
func (s *piecemeal) next(length int) (int, error) {
	if s.paused = !s.paused; !s.paused || length == 0 {
		return 0, ErrNotReady
	}
	n := 1
	if len(s.pieces) > 0 {
		piece := int(s.pieces[s.moved%len(s.pieces)])
		n += piece * piece
	}
	s.moved++
	return min(n, length), nil
}

func (s *piecemeal) Read(p []byte) (int, error) {
	n, err := s.next(min(len(p), len(s.input)))
	s.input = s.input[copy(p[:n], s.input):]
	return n, err
}

func (s *piecemeal) Write(p []byte) (int, error) {
	n, err := s.next(len(p))
	s.output = append(s.output, p[:n]...)
	return n, err
}

func (s *piecemeal) NotifyWritable(bool) {}
func (s *piecemeal) Close()              {}
func (s *piecemeal) Buffers() bool       { return false }
func (s *piecemeal) Pending() bool       { return false }

// quickCertificate makes a cheaper handshake than a certificate with an RSA key.
var quickCertificate = sync.OnceValue(func() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
})

// shake does a handshake in this version of TLS, and puts the client's side onto a socket.
func shake(t *testing.T, version uint16, s Socket) (*tlsTransport, *tls.Conn, *tape) {
	t.Helper()
	near, far := net.Pipe()
	recorded := &tape{Conn: far}
	// Without tickets: they would arrive at the client's next read, which is from memory.
	server := tls.Server(recorded, &tls.Config{
		Certificates: []tls.Certificate{quickCertificate()}, SessionTicketsDisabled: true,
		CurvePreferences: []tls.CurveID{tls.X25519},
	})
	shaken := make(chan error, 1)
	go func() { shaken <- server.Handshake() }()
	client := &tlsTransport{records: &recordConn{Conn: near}}
	client.conn = tls.Client(client.records, &tls.Config{InsecureSkipVerify: true, MinVersion: version, MaxVersion: version})
	if err := errors.Join(client.conn.Handshake(), <-shaken); err != nil {
		t.Fatal(err)
	}
	recorded.recorded = true
	return client.attach(s, &loop{pool: &buffer.Pool{}}), server, recorded
}

// FuzzRecords sends bytes both ways over TLS, in records and pieces of any lengths, and damages one byte on the way to
// the client, or none. The bytes that arrive must be the bytes sent; after damage, a prefix of them.
func FuzzRecords(f *testing.F) {
	f.Add([]byte("a few words"), []byte{3, 0, 200}, []byte{1, 9}, uint32(0), true)
	f.Add(bytes.Repeat([]byte("many words "), 9000), []byte{255}, []byte{255, 0}, uint32(0), false)
	f.Add(bytes.Repeat([]byte("some words "), 90), []byte{9}, []byte{30}, uint32(777), true)
	f.Add([]byte("a long record"), []byte{90}, []byte{}, uint32(4), false)
	f.Fuzz(func(t *testing.T, plain, records, pieces []byte, damage uint32, old bool) {
		version := uint16(tls.VersionTLS13)
		if old {
			version = tls.VersionTLS12
		}
		s := &piecemeal{pieces: pieces}
		client, server, recorded := shake(t, version, s)
		sendRecords(t, server, plain, records)
		s.input = bytes.Clone(recorded.out.Bytes())
		damaged := damage > 0 && len(s.input) > 0
		if damaged {
			s.input[int(damage)%len(s.input)] ^= byte(damage>>24) | 1
		}
		got, err := drainRecords(client, s)
		switch {
		case !bytes.HasPrefix(plain, got):
			t.Errorf("%d bytes came of which some were never sent", len(got))
		case !damaged && (err != nil || len(got) < len(plain)):
			t.Errorf("%d of %d bytes came: %v", len(got), len(plain), err)
		case errors.Is(err, errHalf):
			t.Error(err)
		case damaged && len(got) == len(plain):
			t.Error("all bytes came, although one was damaged")
		}
		if !damaged {
			answerRecords(t, client, s, server, recorded, plain)
		}
		client.Close()
		if client.records.read != nil || client.records.unsent != nil {
			t.Error("a closed connection keeps buffers")
		}
	})
}

// sendRecords writes in pieces of these lengths, each in one record or more.
func sendRecords(t *testing.T, server *tls.Conn, plain, lengths []byte) {
	t.Helper()
	for i := 0; len(plain) > 0; i++ {
		n := len(plain)
		if len(lengths) > 0 {
			length := int(lengths[i%len(lengths)])
			n = min(n, 1+length*length)
		}
		if _, err := server.Write(plain[:n]); err != nil {
			t.Fatal(err)
		}
		plain = plain[n:]
	}
}

// errHalf: TLS must not be given a part of a record, because it would keep that in memory of its own.
var errHalf = errors.New("TLS was given a part of a record")

// drainRecords reads until nothing more comes.
func drainRecords(client *tlsTransport, s *piecemeal) (got []byte, err error) {
	buffer := make([]byte, readBufferLen)
	for {
		n, err := client.Read(buffer)
		got = append(got, buffer[:n]...)
		switch {
		case err != nil && err != ErrNotReady:
			return got, err
		case client.records.left > 0:
			return got, errHalf
		case err == ErrNotReady && len(s.input) == 0:
			return got, nil
		}
	}
}

// answerRecords makes the client send bytes, and the server read them.
func answerRecords(t *testing.T, client *tlsTransport, s *piecemeal, server *tls.Conn, recorded *tape, plain []byte) {
	t.Helper()
	for rest := plain; len(rest) > 0 || client.Pending(); {
		n, err := client.Write(rest)
		if err != nil && err != ErrNotReady {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	recorded.in.Write(s.output)
	got := make([]byte, len(plain))
	if _, err := io.ReadFull(server, got); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("the server did not read what was sent: %v", err)
	}
}
