package message_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/fast/message"
)

// parts are those of a request that is written in parts.
type parts []func([]byte) []byte

func (p parts) Append(dst []byte) []byte {
	for _, part := range p {
		dst = part(dst)
	}
	return dst
}

func txnPut(key, value []byte) *pb.RequestOp {
	return &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: key, Value: value}}}
}

// kind is the kind of a response.
type kind int

const (
	kindRange kind = iota
	kindRangeOfOne
	kindPut
	kindDeleteRange
	kindTxn
	kindLeaseGrant
	kindLeaseRevoke
)

// readers are those of each kind.
var readers = [...]func(*message.Reply, []byte) error{
	kindRange: (*message.Reply).ReadRange, kindRangeOfOne: (*message.Reply).ReadRangeOfOne, kindPut: (*message.Reply).ReadPlain,
	kindDeleteRange: (*message.Reply).ReadDeleteRange, kindTxn: (*message.Reply).ReadTxn,
	kindLeaseGrant: (*message.Reply).ReadLeaseGrant, kindLeaseRevoke: (*message.Reply).ReadPlain,
}

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
		"swap": {
			parts{(&message.Unchanged{Key: []byte("a"), Revision: 6}).AppendIf, (&message.Put{Key: []byte("a"), Value: []byte("v")}).AppendThen},
			&pb.TxnRequest{
				Compare: []*pb.Compare{{Key: []byte("a"), Target: pb.Compare_MOD, TargetUnion: &pb.Compare_ModRevision{ModRevision: 6}}},
				Success: []*pb.RequestOp{txnPut([]byte("a"), []byte("v"))},
			},
		},
		"txn of long parts": {
			parts{
				(&message.Unchanged{Key: long}).AppendIf, (&message.Put{Key: []byte("k"), Value: long}).AppendThen,
				(&message.Put{Key: []byte("k"), Value: make([]byte, 124)}).AppendThen, (&message.Put{Key: long, Value: make([]byte, 1<<14)}).AppendThen,
			},
			&pb.TxnRequest{
				Compare: []*pb.Compare{{Key: long, Target: pb.Compare_MOD, TargetUnion: &pb.Compare_ModRevision{}}},
				Success: []*pb.RequestOp{
					txnPut([]byte("k"), long), txnPut([]byte("k"), make([]byte, 124)), txnPut(long, make([]byte, 1<<14)),
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

// header is the header of the responses that the tests read.
var header = &pb.ResponseHeader{ClusterId: 1, MemberId: 1 << 63, Revision: 42, RaftTerm: 3}

var responses = map[string]struct {
	kind     kind
	response proto.Message
	want     message.Reply
}{
	"range": {
		kindRange,
		&pb.RangeResponse{Header: header, Kvs: []*mvccpb.KeyValue{{Key: []byte("k"), Value: make([]byte, 300)}, {}}, More: true, Count: 9},
		message.Reply{Member: 1 << 63, Revision: 42, Pairs: 2, More: true, Count: 9},
	},
	"range of one": {
		kindRangeOfOne,
		&pb.RangeResponse{Header: header, Kvs: []*mvccpb.KeyValue{{Key: []byte("k"), CreateRevision: 5, ModRevision: 41, Version: 2, Value: make([]byte, 300)}}, Count: 1},
		message.Reply{Member: 1 << 63, Revision: 42, Pairs: 1, ModRevision: 41, Count: 1},
	},
	"range of one that is not there": {kindRangeOfOne, &pb.RangeResponse{Header: header}, message.Reply{Member: 1 << 63, Revision: 42}},
	"empty range":                    {kindRange, &pb.RangeResponse{Header: header}, message.Reply{Member: 1 << 63, Revision: 42}},
	"put": {
		kindPut,
		&pb.PutResponse{Header: header, PrevKv: &mvccpb.KeyValue{Key: []byte("k")}},
		message.Reply{Member: 1 << 63, Revision: 42},
	},
	"delete": {kindDeleteRange, &pb.DeleteRangeResponse{Header: header, Deleted: 3}, message.Reply{Member: 1 << 63, Revision: 42, Count: 3}},
	"txn": {
		kindTxn,
		&pb.TxnResponse{Header: header, Succeeded: true, Responses: []*pb.ResponseOp{{}}},
		message.Reply{Member: 1 << 63, Revision: 42, Succeeded: true},
	},
	"grant":   {kindLeaseGrant, &pb.LeaseGrantResponse{Header: header, ID: 5, TTL: 60}, message.Reply{Member: 1 << 63, Revision: 42, Lease: 5, Seconds: 60}},
	"revoke":  {kindLeaseRevoke, &pb.LeaseRevokeResponse{Header: header}, message.Reply{Member: 1 << 63, Revision: 42}},
	"nothing": {kindRange, &pb.RangeResponse{}, message.Reply{}},
}

func TestRepliesAreWhatEtcdWrites(t *testing.T) {
	for name, tc := range responses {
		t.Run(name, func(t *testing.T) {
			b, err := proto.Marshal(tc.response)
			if err != nil {
				t.Fatal(err)
			}
			got := message.Reply{Pairs: 77}
			if err := readers[tc.kind](&got, b); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
