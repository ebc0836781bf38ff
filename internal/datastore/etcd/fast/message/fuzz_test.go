package message_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/protobuf/proto"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/message"
)

// answer is a response as etcd's own type has it.
type answer interface {
	proto.Message
	GetHeader() *pb.ResponseHeader
}

// oracles read each kind of response with etcd's own type, and return the fields that are needed besides the header.
var oracles = map[kind]func() (answer, func() message.Reply){
	kindRange: func() (answer, func() message.Reply) {
		r := &pb.RangeResponse{}
		return r, func() message.Reply { return message.Reply{Pairs: len(r.Kvs), Count: r.Count, More: r.More} }
	},
	kindRangeOfOne: func() (answer, func() message.Reply) {
		r := &pb.RangeResponse{}
		return r, func() message.Reply {
			m := message.Reply{Pairs: len(r.Kvs), Count: r.Count, More: r.More}
			if n := len(r.Kvs); n > 0 {
				m.ModRevision = r.Kvs[n-1].ModRevision
			}
			return m
		}
	},
	kindPut: func() (answer, func() message.Reply) {
		return &pb.PutResponse{}, func() message.Reply { return message.Reply{} }
	},
	kindDeleteRange: func() (answer, func() message.Reply) {
		r := &pb.DeleteRangeResponse{}
		return r, func() message.Reply { return message.Reply{Count: r.Deleted} }
	},
	kindTxn: func() (answer, func() message.Reply) {
		r := &pb.TxnResponse{}
		return r, func() message.Reply { return message.Reply{Succeeded: r.Succeeded} }
	},
	kindLeaseGrant: func() (answer, func() message.Reply) {
		r := &pb.LeaseGrantResponse{}
		return r, func() message.Reply { return message.Reply{Lease: r.ID, Seconds: r.TTL} }
	},
	kindLeaseRevoke: func() (answer, func() message.Reply) {
		return &pb.LeaseRevokeResponse{}, func() message.Reply { return message.Reply{} }
	},
}

// FuzzReply compares the reader with etcd's own types, on hostile bytes: if they read a message, it must read the same.
func FuzzReply(f *testing.F) {
	for _, tc := range responses {
		b, err := proto.Marshal(tc.response)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(tc.kind), b)
	}
	f.Fuzz(func(t *testing.T, number uint8, b []byte) {
		kind := kind(number % uint8(len(readers)))
		var got message.Reply
		err := readers[kind](&got, b)
		oracle, rest := oracles[kind]()
		if proto.Unmarshal(b, oracle) != nil {
			return
		}
		if err != nil {
			t.Fatalf("etcd's type reads it, the reader does not: %v", err)
		}
		want := rest()
		want.Member, want.Revision = oracle.GetHeader().GetMemberId(), oracle.GetHeader().GetRevision()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
