package etcd

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

// answerers are the members that answered requests of the load, by address: behind a load balancer, an address leads to
// several members, and each connection, or each request, to another one.
type answerers struct {
	mutex     sync.Mutex
	byAddress map[string][]uint64
}

func (a *answerers) saw(address string, member uint64) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if member == 0 || slices.Contains(a.byAddress[address], member) {
		return
	}
	if a.byAddress == nil {
		a.byAddress = map[string][]uint64{}
	}
	a.byAddress[address] = append(a.byAddress[address], member)
}

// AnsweredBy implements load.Answerer.
func (d *Driver) AnsweredBy() map[string][]string {
	d.answerers.mutex.Lock()
	defer d.answerers.mutex.Unlock()
	out := map[string][]string{}
	for address, members := range d.answerers.byAddress {
		for _, m := range members {
			out[address] = append(out[address], hexID(m))
		}
		slices.Sort(out[address])
	}
	return out
}

// answerer is the member that gave the last answer on one connection of the load. All answers have the ID of their member.
type answerer struct {
	all     *answerers
	address string
	last    atomic.Uint64
}

func (a *answerer) saw(answer any) {
	withHeader, ok := answer.(interface {
		GetHeader() *etcdserverpb.ResponseHeader
	})
	if !ok {
		return
	}
	if member := withHeader.GetHeader().GetMemberId(); a.last.Swap(member) != member {
		a.all.saw(a.address, member)
	}
}

func (a *answerer) options() []grpc.DialOption {
	return []grpc.DialOption{grpc.WithChainUnaryInterceptor(a.send), grpc.WithChainStreamInterceptor(a.open)}
}

func (a *answerer) send(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	err := invoke(ctx, method, req, reply, cc, opts...)
	if err == nil {
		a.saw(reply)
	}
	return err
}

func (a *answerer) open(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	stream, err := streamer(ctx, desc, cc, method, opts...)
	if err != nil {
		return nil, err
	}
	return answeredStream{stream, a}, nil
}

type answeredStream struct {
	grpc.ClientStream
	by *answerer
}

func (s answeredStream) RecvMsg(message any) error {
	err := s.ClientStream.RecvMsg(message)
	if err == nil {
		s.by.saw(message)
	}
	return err
}
