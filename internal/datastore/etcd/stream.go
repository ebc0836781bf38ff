package etcd

import (
	"context"
	"path"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// open opens a stream and counts every message that is sent over it, as etcd counts what it receives: a stream that stays
// open carries many requests.
func (s sender) open(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	stream, err := streamer(withToken(ctx, s.tokens.Current()), desc, cc, method, opts...)
	if err != nil {
		return nil, err
	}
	counted := &countedStream{ClientStream: stream, requests: &s.driver.requests, noting: s.noting, rpc: spec.RPC(path.Base(method)), phase: phaseOfStream(ctx)}
	counted.creates, _ = ctx.Value(creationsKey{}).(func())
	return counted, nil
}

// countedStream counts its messages by phase. Their sender changes the phase.
type countedStream struct {
	grpc.ClientStream
	requests *load.RequestCounter
	noting   *answerer
	rpc      spec.RPC
	phase    func() results.Phase
	// creates, if set, is called before each request to create a watcher.
	creates func()
}

func (s *countedStream) SendMsg(message any) error {
	s.requests.Add(s.rpc, s.phase())
	if request, ok := message.(*etcdserverpb.WatchRequest); ok && s.creates != nil && request.GetCreateRequest() != nil {
		s.creates()
	}
	return s.ClientStream.SendMsg(message)
}

func (s *countedStream) RecvMsg(message any) error {
	err := s.ClientStream.RecvMsg(message)
	if err == nil {
		s.noting.saw(message)
	}
	return err
}

type streamPhaseKey struct{}

// withStreamPhase returns a context for a stream that outlasts a phase. Each message counts for the phase that phase
// returns when the message is sent.
func withStreamPhase(ctx context.Context, phase func() results.Phase) context.Context {
	return context.WithValue(ctx, streamPhaseKey{}, phase)
}

func phaseOfStream(ctx context.Context) func() results.Phase {
	if phase, ok := ctx.Value(streamPhaseKey{}).(func() results.Phase); ok {
		return phase
	}
	phase := load.PhaseOf(ctx)
	return func() results.Phase { return phase }
}

type creationsKey struct{}

// withCreations returns a context for watches that calls creates for each request to create a watcher. clientv3 does
// not report when it recreates the watchers of a broken stream.
func withCreations(ctx context.Context, creates func()) context.Context {
	return context.WithValue(ctx, creationsKey{}, creates)
}
