package etcd

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/internal/doctor"
)

// The metrics of etcd 3.6 with --metrics=extensive, shortened.
const methodsBefore = `# TYPE grpc_server_handling_seconds histogram
grpc_server_handling_seconds_bucket{grpc_method="Range",grpc_service="etcdserverpb.KV",grpc_type="unary",le="0.1"} 7
grpc_server_handling_seconds_bucket{grpc_method="Range",grpc_service="etcdserverpb.KV",grpc_type="unary",le="0.25"} 7
grpc_server_handling_seconds_bucket{grpc_method="Range",grpc_service="etcdserverpb.KV",grpc_type="unary",le="+Inf"} 7
grpc_server_handling_seconds_sum{grpc_method="Range",grpc_service="etcdserverpb.KV",grpc_type="unary"} 0.007
grpc_server_handling_seconds_count{grpc_method="Range",grpc_service="etcdserverpb.KV",grpc_type="unary"} 7
grpc_server_handling_seconds_bucket{grpc_method="Watch",grpc_service="etcdserverpb.Watch",grpc_type="bidi_stream",le="+Inf"} 0
grpc_server_handling_seconds_sum{grpc_method="Watch",grpc_service="etcdserverpb.Watch",grpc_type="bidi_stream"} 0
grpc_server_handling_seconds_count{grpc_method="Watch",grpc_service="etcdserverpb.Watch",grpc_type="bidi_stream"} 0
# TYPE grpc_server_msg_received_total counter
grpc_server_msg_received_total{grpc_method="Put",grpc_service="etcdserverpb.KV",grpc_type="unary"} 5
grpc_server_msg_received_total{grpc_method="Range",grpc_service="etcdserverpb.KV",grpc_type="unary"} 7
grpc_server_msg_received_total{grpc_method="Watch",grpc_service="etcdserverpb.Watch",grpc_type="bidi_stream"} 1
grpc_server_msg_received_total{grpc_method="Watch",grpc_service="grpc.health.v1.Health",grpc_type="server_stream"} 0
# TYPE grpc_server_msg_sent_total counter
grpc_server_msg_sent_total{grpc_method="Put",grpc_service="etcdserverpb.KV",grpc_type="unary"} 5
grpc_server_msg_sent_total{grpc_method="Range",grpc_service="etcdserverpb.KV",grpc_type="unary"} 7
grpc_server_msg_sent_total{grpc_method="Watch",grpc_service="etcdserverpb.Watch",grpc_type="bidi_stream"} 1
grpc_server_msg_sent_total{grpc_method="Watch",grpc_service="grpc.health.v1.Health",grpc_type="server_stream"} 0
`

// The busiest RPC is first. Requests are timed, and streams are not.
func TestTheRequestsByMethod(t *testing.T) {
	after := strings.NewReplacer(`"unary",le="0.25"} 7`, `"unary",le="0.25"} 9`, `"+Inf"} 7`, `"+Inf"} 9`, `"unary"} 7`, `"unary"} 9`, `"unary"} 0.007`, `"unary"} 0.407`,
		`etcdserverpb.Watch",grpc_type="bidi_stream"} 1`, `etcdserverpb.Watch",grpc_type="bidi_stream"} 51`, `"bidi_stream"} 0`, `"bidi_stream"} 1`, `"bidi_stream",le="+Inf"} 0`, `"bidi_stream",le="+Inf"} 1`).Replace(methodsBefore)
	at := time.Now()
	got := methodsIn([]byte(after), at.Add(time.Second)).since(methodsIn([]byte(methodsBefore), at))
	if len(got) != 2 || got[0].Name != "Watch" || got[0].Sent != 50 || got[0].Received != 50 || got[0].Handling.Count != 0 {
		t.Fatalf("got %+v, wanted Watch first, and then Range", got)
	}
	timing := got[1].Handling
	want := doctor.Method{Name: "Range", Received: 2, Sent: 2, Handling: timing}
	if diff := cmp.Diff(want, got[1]); diff != "" || timing.Count != 2 || timing.Mean.Round(time.Millisecond) != 200*time.Millisecond || timing.P99Above != 100*time.Millisecond || timing.P99AtMost != 250*time.Millisecond {
		t.Errorf("got %+v (-want +got):\n%s", got[1], diff)
	}
}

// A checkup has its own requests, the sizes, and the control groups of a member of this machine.
func TestACheckupHasRequestsAndThrottling(t *testing.T) {
	cluster, _ := oneMember(t)
	c, d := checkedUp(t, cluster.Endpoints...)
	m := c.Members[0]
	received, sent := m.MeanBytes()
	if len(m.Methods) == 0 || m.Methods[0].Received == 0 || received == 0 && sent == 0 {
		t.Errorf("got %+v, %v and %v bytes, wanted requests", m.Methods, received, sent)
	}
	if m.Throttling == nil {
		t.Errorf("the throttling of this process is not known: %+v", m.ThrottlingUnread)
	}
	for _, u := range d.Undecided {
		if u.Kind == "Throttled" {
			t.Errorf("undecided: %+v", u)
		}
	}
}

// Only the control groups of an etcd of this machine are read.
func TestThrottlingThatCannotBeRead(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nothing := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, endpoint := range []string{"10.0.0.1:2379", "etcd:2379", "localhost", nothing} {
		if groups, unread := OwnThrottling(t.Context(), endpoint); unread == nil || unread.Why == "" || unread.Needs == "" {
			t.Errorf("%s: got %+v, wanted the reason why not", endpoint, groups)
		}
	}
}
