package faults

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"flag"
	"io"
	"log"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/proto"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/frame"
)

// asInstant makes this test binary behave as an instant target. Its value is the address of the etcd behind it.
const asInstant = "FAULTS_TEST_AS_INSTANT_TARGET_OF"

func TestMain(m *testing.M) {
	if upstream := os.Getenv(asInstant); upstream != "" {
		log.Fatal(serveInstantly(upstream))
	}
	flag.Parse()
	if strings.Contains(flag.Lookup("test.run").Value.String(), "TestAlone") && !isChild() {
		os.Exit(runOnQuietMachine(m))
	}
	os.Exit(m.Run())
}

// startInstant starts a process that answers all requests of the transport Fast at once, as puts, and forwards all other
// connections to an etcd. It needs less processor time for a request than the load generator. It returns its address.
func startInstant(t *testing.T, upstream string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	file, err := listener.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asInstant+"="+upstream)
	cmd.ExtraFiles, cmd.Stderr = []*os.File{file}, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return listener.Addr().String()
}

// serveInstantly serves at the first of the process's extra files until that fails.
func serveInstantly(upstream string) error {
	const firstExtraFile = 3
	listener, err := net.FileListener(os.NewFile(firstExtraFile, "listener"))
	if err != nil {
		return err
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go serveConn(conn, upstream)
	}
}

func serveConn(conn net.Conn, upstream string) {
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 256<<10)
	if isFast(in) {
		// Each connection ends with an error, because the load generator closes it.
		_ = newInstantPuts(conn, in).serve()
		return
	}
	far, err := net.Dial("tcp", upstream)
	if err != nil {
		return
	}
	var forwarding sync.WaitGroup
	defer forwarding.Wait()
	defer far.Close()
	forwarding.Go(func() {
		_, _ = io.Copy(conn, far)
		_ = conn.Close()
	})
	_, _ = io.Copy(far, in)
}

// isFast reports whether a connection is one of the transport Fast. Of all clients of a run, only this transport begins
// with a setting for server pushes.
func isFast(in *bufio.Reader) (fast bool) {
	const begin = len(frame.Preface) + frame.HeaderLen
	b, err := in.Peek(begin)
	if err != nil || !bytes.HasPrefix(b, []byte(frame.Preface)) {
		return false
	}
	if b, err = in.Peek(begin + frame.Parse(b[len(frame.Preface):]).Length); err != nil {
		return false
	}
	frame.ParseSettings(b[begin:], func(s frame.Setting) bool {
		fast = fast || s.ID == frame.EnablePush
		return !fast
	})
	return fast
}

// instantWindow, in bytes, has room for all requests of a connection, so that none waits for the window.
const instantWindow = 16 << 20

// instantPuts answers each request of a connection as a put.
type instantPuts struct {
	conn net.Conn
	in   *bufio.Reader
	// out is what to write when all requests that have arrived are answered.
	out []byte
	// taken is how many bytes of requests were read for which out returns no window.
	taken int
	// head and trail are header blocks. The first response defines header fields, the later ones refer to them.
	head, trail [2][]byte
	answered    int
	message     []byte
}

func newInstantPuts(conn net.Conn, in *bufio.Reader) *instantPuts {
	p := &instantPuts{conn: conn, in: in}
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	encode := func(fields ...hpack.HeaderField) []byte {
		block.Reset()
		for _, f := range fields {
			_ = encoder.WriteField(f)
		}
		return bytes.Clone(block.Bytes())
	}
	for i := range p.head {
		p.head[i] = encode(hpack.HeaderField{Name: ":status", Value: "200"}, hpack.HeaderField{Name: "content-type", Value: "application/grpc"})
		p.trail[i] = encode(hpack.HeaderField{Name: "grpc-status", Value: "0"}, hpack.HeaderField{Name: "grpc-message", Value: ""})
	}
	message, _ := proto.Marshal(&pb.PutResponse{Header: &pb.ResponseHeader{ClusterId: 1, MemberId: 1, Revision: 2, RaftTerm: 2}})
	p.message = append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
	p.out = frame.AppendWindowUpdate(frame.AppendSettings(nil), 0, instantWindow)
	return p
}

func (p *instantPuts) serve() error {
	if _, err := p.in.Discard(len(frame.Preface)); err != nil {
		return err
	}
	for {
		b, err := p.in.Peek(frame.HeaderLen)
		if err != nil {
			return err
		}
		h := frame.Parse(b)
		if b, err = p.in.Peek(frame.HeaderLen + h.Length); err != nil {
			return err
		}
		p.handle(h, b[frame.HeaderLen:])
		_, _ = p.in.Discard(len(b))
		if p.in.Buffered() >= frame.HeaderLen {
			continue
		}
		if err := p.flush(); err != nil {
			return err
		}
	}
}

func (p *instantPuts) handle(h frame.Header, payload []byte) {
	switch {
	case h.Kind == frame.Data:
		p.taken += h.Length
		if h.Flags.Has(frame.EndStream) {
			p.answer(h.Stream)
		}
	case h.Kind == frame.Settings && !h.Flags.Has(frame.Ack):
		p.out = frame.AppendSettingsAck(p.out)
	case h.Kind == frame.Ping && !h.Flags.Has(frame.Ack):
		p.out = frame.AppendPingAck(p.out, payload)
	}
}

func (p *instantPuts) answer(stream uint32) {
	blocks := min(p.answered, 1)
	p.answered++
	add := func(kind frame.Kind, flags frame.Flags, payload []byte) {
		p.out = append(frame.Header{Length: len(payload), Kind: kind, Flags: flags, Stream: stream}.Append(p.out), payload...)
	}
	add(frame.Headers, frame.EndHeaders, p.head[blocks])
	add(frame.Data, 0, p.message)
	add(frame.Headers, frame.EndHeaders|frame.EndStream, p.trail[blocks])
}

func (p *instantPuts) flush() error {
	if p.taken > 0 {
		p.out = frame.AppendWindowUpdate(p.out, 0, p.taken)
		p.taken = 0
	}
	_, err := p.conn.Write(p.out)
	p.out = p.out[:0]
	return err
}
