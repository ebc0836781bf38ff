package fast

import (
	"context"
	"fmt"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
)

// TestRequestsThatTheKernelDoesNotHold sends requests of which the kernel takes a part at a time, alone on their
// connection. Only their own remaining bytes make the loop write again.
func TestRequestsThatTheKernelDoesNotHold(t *testing.T) {
	forAll(t, func(t *testing.T, config Config, options []grpc.ServerOption) {
		lengths := make(chan int, 1)
		wide := []grpc.ServerOption{grpc.InitialWindowSize(1 << 30), grpc.InitialConnWindowSize(1 << 30), grpc.MaxRecvMsgSize(1 << 30)}
		_, server := serve(t, "127.0.0.1:0", &kv{puts: func(_ context.Context, r *pb.PutRequest) (*pb.PutResponse, error) {
			lengths <- len(r.Value)
			return &pb.PutResponse{}, nil
		}}, append(wide, options...)...)
		conn := open(t, newTestClient(t, config), server)
		for i := range 3 {
			request := load.Request{Operation: spec.OperationPut, Key: fmt.Append(nil, i), Value: make([]byte, 8<<20+i*5_003), Timeout: time.Minute}
			var response load.Response
			conn.Do(t.Context(), &request, &response)
			if !response.Succeeded() {
				t.Fatalf("a value of %d bytes: %+v", len(request.Value), response)
			}
			if got := <-lengths; got != len(request.Value) {
				t.Errorf("the server got %d bytes of %d", got, len(request.Value))
			}
		}
	})
}
