package message_test

import (
	"bytes"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/message"
	"github.com/google/go-cmp/cmp"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
)

func TestRequestsAreWhatEtcdReads(t *testing.T) {
	long := bytes.Repeat([]byte("v"), 300)
	tests := map[string]struct {
		request interface{ Append([]byte) []byte }
		want    proto.Message
	}{
		"range": {
			&message.Range{Key: []byte("k"), End: []byte("l"), Limit: 5, Revision: 6, Serializable: true, KeysOnly: true, CountOnly: true},
			&pb.RangeRequest{Key: []byte("k"), RangeEnd: []byte("l"), Limit: 5, Revision: 6, Serializable: true, KeysOnly: true, CountOnly: true},
		},
		"range of one key": {&message.Range{Key: long}, &pb.RangeRequest{Key: long}},
		"put": {
			&message.Put{Key: []byte("k"), Value: long, Lease: 1 << 60},
			&pb.PutRequest{Key: []byte("k"), Value: long, Lease: 1 << 60},
		},
		"delete": {
			&message.DeleteRange{Key: []byte("k"), End: []byte{0}},
			&pb.DeleteRangeRequest{Key: []byte("k"), RangeEnd: []byte{0}},
		},
		"grant":  {&message.LeaseGrant{Seconds: 10, ID: -1}, &pb.LeaseGrantRequest{TTL: 10, ID: -1}},
		"revoke": {&message.LeaseRevoke{ID: 7}, &pb.LeaseRevokeRequest{ID: 7}},
		"txn": {
			&message.Txn{
				If: []message.Compare{
					{Key: []byte("a"), Comparison: message.Greater, Subject: message.Version, Number: 0},
					{Key: []byte("a"), Subject: message.CreateRevision, Number: 5},
					{Key: []byte("a"), Comparison: message.NotEqual, Subject: message.ModRevision, Number: 6},
					{Key: []byte("b"), End: []byte("c"), Comparison: message.Less, Subject: message.Value, Bytes: long},
					{Key: []byte("b"), Subject: message.Lease, Number: 9},
				},
				Then: []message.Op{&message.Put{Key: []byte("k"), Value: long}, &message.Range{Key: long}},
				Else: []message.Op{&message.DeleteRange{Key: []byte("k")}},
			},
			&pb.TxnRequest{
				Compare: []*pb.Compare{
					{Key: []byte("a"), Result: pb.Compare_GREATER, Target: pb.Compare_VERSION, TargetUnion: &pb.Compare_Version{}},
					{Key: []byte("a"), Target: pb.Compare_CREATE, TargetUnion: &pb.Compare_CreateRevision{CreateRevision: 5}},
					{Key: []byte("a"), Result: pb.Compare_NOT_EQUAL, Target: pb.Compare_MOD, TargetUnion: &pb.Compare_ModRevision{ModRevision: 6}},
					{Key: []byte("b"), RangeEnd: []byte("c"), Result: pb.Compare_LESS, Target: pb.Compare_VALUE, TargetUnion: &pb.Compare_Value{Value: long}},
					{Key: []byte("b"), Target: pb.Compare_LEASE, TargetUnion: &pb.Compare_Lease{Lease: 9}},
				},
				Success: []*pb.RequestOp{
					{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: []byte("k"), Value: long}}},
					{Request: &pb.RequestOp_RequestRange{RequestRange: &pb.RangeRequest{Key: long}}},
				},
				Failure: []*pb.RequestOp{
					{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: &pb.DeleteRangeRequest{Key: []byte("k")}}},
				},
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := proto.Clone(tc.want)
			proto.Reset(got)
			if err := proto.Unmarshal(tc.request.Append([]byte("before"))[len("before"):], got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, protocmp.Transform()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// responses are what etcd may answer, and what is to be read of it.
var header = &pb.ResponseHeader{ClusterId: 1, MemberId: 1 << 63, Revision: 42, RaftTerm: 3}

var responses = map[string]struct {
	kind     message.Kind
	response proto.Message
	want     message.Reply
}{
	"range": {
		message.KindRange,
		&pb.RangeResponse{Header: header, Kvs: []*mvccpb.KeyValue{{Key: []byte("k"), Value: make([]byte, 300)}, {}}, More: true, Count: 9},
		message.Reply{Member: 1 << 63, Revision: 42, Pairs: 2, More: true, Count: 9},
	},
	"empty range": {message.KindRange, &pb.RangeResponse{Header: header}, message.Reply{Member: 1 << 63, Revision: 42}},
	"put": {
		message.KindPut,
		&pb.PutResponse{Header: header, PrevKv: &mvccpb.KeyValue{Key: []byte("k")}},
		message.Reply{Member: 1 << 63, Revision: 42},
	},
	"delete": {message.KindDeleteRange, &pb.DeleteRangeResponse{Header: header, Deleted: 3}, message.Reply{Member: 1 << 63, Revision: 42, Count: 3}},
	"txn": {
		message.KindTxn,
		&pb.TxnResponse{Header: header, Succeeded: true, Responses: []*pb.ResponseOp{{}}},
		message.Reply{Member: 1 << 63, Revision: 42, Succeeded: true},
	},
	"grant":   {message.KindLeaseGrant, &pb.LeaseGrantResponse{Header: header, ID: 5, TTL: 60}, message.Reply{Member: 1 << 63, Revision: 42, Lease: 5, Seconds: 60}},
	"revoke":  {message.KindLeaseRevoke, &pb.LeaseRevokeResponse{Header: header}, message.Reply{Member: 1 << 63, Revision: 42}},
	"nothing": {message.KindRange, &pb.RangeResponse{}, message.Reply{}},
}

func TestRepliesAreWhatEtcdWrites(t *testing.T) {
	for name, tc := range responses {
		t.Run(name, func(t *testing.T) {
			b, err := proto.Marshal(tc.response)
			if err != nil {
				t.Fatal(err)
			}
			got := message.Reply{Pairs: 77}
			if err := got.Read(tc.kind, b); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzRange holds the reader against etcd's own type, on hostile bytes.
func FuzzRange(f *testing.F) {
	for _, tc := range responses {
		b, err := proto.Marshal(tc.response)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var oracle pb.RangeResponse
		var got message.Reply
		err := got.Read(message.KindRange, b)
		if proto.Unmarshal(b, &oracle) != nil {
			return
		}
		if err != nil {
			t.Fatalf("etcd reads it, this does not: %v", err)
		}
		want := message.Reply{
			Member: oracle.GetHeader().GetMemberId(), Revision: oracle.GetHeader().GetRevision(),
			Pairs: len(oracle.GetKvs()), Count: oracle.GetCount(), More: oracle.GetMore(),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
