package message_test

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/message"
	"github.com/google/go-cmp/cmp"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/protobuf/proto"
)

// answer is a response of etcd's as its own type has it.
type answer interface {
	proto.Message
	GetHeader() *pb.ResponseHeader
}

// oracles read each kind of response by etcd's own type, and say what matters of
// it besides the header.
var oracles = map[message.Kind]func() (answer, func() message.Reply){
	message.KindRange: func() (answer, func() message.Reply) {
		r := &pb.RangeResponse{}
		return r, func() message.Reply { return message.Reply{Pairs: len(r.Kvs), Count: r.Count, More: r.More} }
	},
	message.KindRangeOfOne: func() (answer, func() message.Reply) {
		r := &pb.RangeResponse{}
		return r, func() message.Reply {
			m := message.Reply{Pairs: len(r.Kvs), Count: r.Count, More: r.More}
			if n := len(r.Kvs); n > 0 {
				m.ModRevision = r.Kvs[n-1].ModRevision
			}
			return m
		}
	},
	message.KindPut: func() (answer, func() message.Reply) {
		return &pb.PutResponse{}, func() message.Reply { return message.Reply{} }
	},
	message.KindDeleteRange: func() (answer, func() message.Reply) {
		r := &pb.DeleteRangeResponse{}
		return r, func() message.Reply { return message.Reply{Count: r.Deleted} }
	},
	message.KindTxn: func() (answer, func() message.Reply) {
		r := &pb.TxnResponse{}
		return r, func() message.Reply { return message.Reply{Succeeded: r.Succeeded} }
	},
	message.KindLeaseGrant: func() (answer, func() message.Reply) {
		r := &pb.LeaseGrantResponse{}
		return r, func() message.Reply { return message.Reply{Lease: r.ID, Seconds: r.TTL} }
	},
	message.KindLeaseRevoke: func() (answer, func() message.Reply) {
		return &pb.LeaseRevokeResponse{}, func() message.Reply { return message.Reply{} }
	},
}

// FuzzReply holds the reader against etcd's own types, on hostile bytes: what
// those read, it reads in the same way.
func FuzzReply(f *testing.F) {
	for _, tc := range responses {
		b, err := proto.Marshal(tc.response)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(tc.kind), b)
	}
	f.Fuzz(func(t *testing.T, number uint8, b []byte) {
		kind := message.Kind(number % uint8(len(oracles)))
		var got message.Reply
		err := got.Read(kind, b)
		oracle, rest := oracles[kind]()
		if proto.Unmarshal(b, oracle) != nil {
			return
		}
		if err != nil {
			t.Fatalf("etcd reads it, this does not: %v", err)
		}
		want := rest()
		want.Member, want.Revision = oracle.GetHeader().GetMemberId(), oracle.GetHeader().GetRevision()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
