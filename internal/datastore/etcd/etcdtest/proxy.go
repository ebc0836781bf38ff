package etcdtest

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// Handle answers a call. forward sends the request to the etcd behind the proxy. Requests and responses are protobuf
// messages as bytes.
type Handle func(ctx context.Context, method string, request []byte, forward func() ([]byte, error)) ([]byte, error)

// StartProxy serves as a gRPC server in front of an etcd until the test ends, and returns its host:port. It knows calls
// with one request and one response.
func StartProxy(t testing.TB, upstream string, handle Handle) string {
	t.Helper()
	conn, err := grpc.NewClient(upstream, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodec(rawCodec{})))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.ForceServerCodec(rawCodec{}), grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		method, _ := grpc.MethodFromServerStream(stream)
		var in []byte
		if err := stream.RecvMsg(&in); err != nil {
			return err
		}
		out, err := handle(stream.Context(), method, in, func() ([]byte, error) {
			var out []byte
			err := conn.Invoke(stream.Context(), method, &in, &out)
			return out, err
		})
		if err != nil {
			return err
		}
		return stream.SendMsg(&out)
	}))
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() {
		server.Stop()
		serving.Wait()
		_ = conn.Close()
	})
	return listener.Addr().String()
}

// rawCodec carries messages as they are.
type rawCodec struct{}

func (rawCodec) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

func (rawCodec) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = bytes.Clone(data)
	return nil
}

func (rawCodec) Name() string { return "raw" }
