package fast

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// ownKey is the key of the member check.
const ownKey = "own"

// memberServer is a member. It counts the reads of other keys than ownKey.
type memberServer struct {
	id    atomic.Uint64
	reads atomic.Int64
}

func newMemberServer(id uint64) *memberServer {
	s := &memberServer{}
	s.id.Store(id)
	return s
}

func (s *memberServer) kv() *kv {
	return &kv{ranges: func(_ context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
		if string(r.Key) != ownKey {
			s.reads.Add(1)
		} else if !r.Serializable || !r.CountOnly {
			return nil, status.Error(codes.InvalidArgument, "a question to the member alone was wanted")
		}
		return &pb.RangeResponse{Header: &pb.ResponseHeader{MemberId: s.id.Load()}, Count: 1}, nil
	}}
}

func wrongMember(err error) bool {
	_, ok := errors.AsType[*WrongMemberError](err)
	return ok
}

func TestConnectAsksWhichMemberItIs(t *testing.T) {
	forAll(t, func(t *testing.T, config Config, options []grpc.ServerOption) {
		member := newMemberServer(7)
		_, address := serve(t, "127.0.0.1:0", member.kv(), options...)
		config.MemberKey = []byte(ownKey)
		for want, ok := range map[uint64]bool{7: true, 8: false, 0: true} {
			config.Members = map[string]uint64{address: want}
			client := newTestClient(t, config)
			conn, err := client.Connect(t.Context(), address, 0)
			if ok != (err == nil) || ok == wrongMember(err) {
				t.Fatalf("the member 7 instead of %d: %v", want, err)
			}
			if !ok {
				continue
			}
			if got := get(t.Context(), conn, "k"); !got.Succeeded() {
				t.Errorf("got %+v", got)
			}
			counted := map[results.Phase]uint64{results.PhaseMeasured: 1}
			if want != 0 {
				counted[results.PhaseControl] = 1
			}
			if diff := cmp.Diff(counted, client.Requests()[spec.RPCRange]); diff != "" {
				t.Error(diff)
			}
		}
	})
}

// TestWrongMemberGetsNoCalls makes an address lead to another member when the connection is lost, and back again.
func TestWrongMemberGetsNoCalls(t *testing.T) {
	member := newMemberServer(7)
	server, address := serve(t, "127.0.0.1:0", member.kv())
	conn := open(t, newTestClient(t, Config{Members: map[string]uint64{address: 7}, MemberKey: []byte(ownKey)}), address)
	server.Stop()
	if got := get(t.Context(), conn, "k"); got.Code != load.CodeUnavailable {
		t.Errorf("without a server: %+v", got)
	}
	member.id.Store(8)
	serve(t, address, member.kv())
	for got := get(t.Context(), conn, "k"); !strings.Contains(got.Detail, "member 8, wanted 7"); got = get(t.Context(), conn, "k") {
		if got.Code != load.CodeUnavailable {
			t.Fatalf("got %+v", got)
		}
	}
	if n := member.reads.Load(); n != 0 {
		t.Errorf("the wrong member was read %d times", n)
	}
	member.id.Store(7)
	for got := get(t.Context(), conn, "k"); !got.Succeeded(); got = get(t.Context(), conn, "k") {
		if got.Code != load.CodeUnavailable {
			t.Fatalf("got %+v", got)
		}
	}
}

// TestMoveDuringAMemberCheck moves a connection whose new server does not report its member ID.
func TestMoveDuringAMemberCheck(t *testing.T) {
	hanging, asked, given := hang()
	_, silent := serve(t, "127.0.0.1:0", hanging)
	member := newMemberServer(7)
	_, address := serve(t, "127.0.0.1:0", member.kv())
	config := Config{Members: map[string]uint64{address: 7, silent: 8}, MemberKey: []byte(ownKey)}
	conn := open(t, newTestClient(t, config), address)
	conn.Move(silent)
	<-asked
	ended := make(chan load.Response, 1)
	go func() { ended <- get(t.Context(), conn, "k") }()
	conn.Move(address)
	if got := <-ended; !got.Succeeded() {
		t.Errorf("got %+v", got)
	}
	<-given
}

// TestMemberCheckFails makes the member check fail in each way.
func TestMemberCheckFails(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"denied":      {rpctypes.ErrGRPCPermissionDenied, "permission denied"},
		"unavailable": {status.Error(codes.Unavailable, "not now"), "has not reported its member ID"},
		"no token":    {rpctypes.ErrGRPCInvalidAuthToken, "has not reported its member ID"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, address := serve(t, "127.0.0.1:0", &kv{ranges: func(context.Context, *pb.RangeRequest) (*pb.RangeResponse, error) {
				return nil, tc.err
			}})
			config := Config{Members: map[string]uint64{address: 7}, MemberKey: []byte(ownKey), DialTimeout: maxWait / 10}
			_, err := newTestClient(t, config).Connect(t.Context(), address, 0)
			if err == nil || wrongMember(err) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// A member may learn a token a little later than the member that issued it.
func TestMemberCheckIsRepeated(t *testing.T) {
	var asked atomic.Int64
	_, address := serve(t, "127.0.0.1:0", &kv{ranges: func(context.Context, *pb.RangeRequest) (*pb.RangeResponse, error) {
		switch asked.Add(1) {
		case 1:
			return nil, rpctypes.ErrGRPCInvalidAuthToken
		case 2:
			return nil, status.Error(codes.Unavailable, "not now")
		}
		return &pb.RangeResponse{Header: &pb.ResponseHeader{MemberId: 7}}, nil
	}})
	open(t, newTestClient(t, Config{Members: map[string]uint64{address: 7}, MemberKey: []byte(ownKey)}), address)
	if asked.Load() != 3 {
		t.Errorf("%d member checks", asked.Load())
	}
}

// Each link reports the members that answer on it, also if each request reaches another one.
func TestAnsweredBy(t *testing.T) {
	forAll(t, func(t *testing.T, config Config, options []grpc.ServerOption) {
		member := newMemberServer(7)
		_, address := serve(t, "127.0.0.1:0", member.kv(), options...)
		var mutex sync.Mutex
		var found []uint64
		config.AnsweredBy = func(at string, id uint64) {
			mutex.Lock()
			defer mutex.Unlock()
			if found = append(found, id); at != address {
				t.Errorf("got the address %s, wanted %s", at, address)
			}
		}
		conn := open(t, newTestClient(t, config), address)
		for _, id := range []uint64{7, 7, 8, 8, 7} {
			member.id.Store(id)
			if got := get(t.Context(), conn, "k"); !got.Succeeded() {
				t.Fatalf("got %+v", got)
			}
		}
		mutex.Lock()
		defer mutex.Unlock()
		if diff := cmp.Diff([]uint64{7, 8, 7}, found); diff != "" {
			t.Error(diff)
		}
	})
}
