package fast

import (
	"crypto/tls"
	"io"
	"net"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/servertest"
)

// rawFrame is an encoded frame.
type rawFrame struct {
	frame.Header
	payload []byte
}

func (f rawFrame) append(dst []byte) []byte {
	f.Length = len(f.payload)
	return append(f.Header.Append(dst), f.payload...)
}

func readFrame(r io.Reader) (rawFrame, error) {
	header := make([]byte, frame.HeaderLen)
	if _, err := io.ReadFull(r, header); err != nil {
		return rawFrame{}, err
	}
	f := rawFrame{Header: frame.Parse(header)}
	f.payload = make([]byte, f.Length)
	_, err := io.ReadFull(r, f.payload)
	return f, err
}

// mangler changes the frames of one connection on their way; nil changes nothing.
type mangler struct{ toServer, toClient func(rawFrame) []rawFrame }

// interpose runs a proxy between clients and a server, with a mangler for each connection.
func interpose(t *testing.T, server string, mangle func() mangler) string {
	t.Helper()
	return interposeAs(t, Config{}, server, mangle)
}

// interposeAs does the same, and uses TLS with clients if this configuration does. The server is plain.
func interposeAs(t *testing.T, config Config, server string, mangle func() mangler) string {
	t.Helper()
	return servertest.Accept(t, func(client net.Conn) {
		if config.TLS != nil {
			client = tls.Server(client, &tls.Config{Certificates: []tls.Certificate{servertest.Certificate()}, NextProtos: []string{"h2"}})
		}
		upstream, err := net.Dial("tcp", server)
		if err != nil {
			_ = client.Close()
			return
		}
		m := mangle()
		go relay(client, upstream, m.toClient)
		if _, err := io.CopyN(upstream, client, int64(len(frame.Preface))); err == nil {
			relay(upstream, client, m.toServer)
		}
	})
}

// relay moves frames until one side ends.
func relay(to, from net.Conn, mangle func(rawFrame) []rawFrame) {
	defer to.Close()
	for {
		f, err := readFrame(from)
		if err != nil {
			return
		}
		frames := []rawFrame{f}
		if mangle != nil {
			frames = mangle(f)
		}
		var out []byte
		for _, f := range frames {
			out = f.append(out)
		}
		if _, err := to.Write(out); err != nil {
			return
		}
	}
}
