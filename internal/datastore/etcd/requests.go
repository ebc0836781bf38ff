package etcd

import (
	"cmp"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/exposition"
	"github.com/etcdbench/etcd-benchmark-operator/internal/doctor"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/members"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const (
	metricMessagesReceived = "grpc_server_msg_received_total"
	metricMessagesSent     = "grpc_server_msg_sent_total"
)

// metricsOfMethods are those by RPC.
var metricsOfMethods = exposition.New(exposition.Table{
	Counters: map[string]results.Figure{}, Gauges: map[string]members.Gauge{},
	Timers: map[string]exposition.Timer{metricHandling: {Is: results.TimerHandling, Counts: isUnary}},
	Others: []string{metricMessagesReceived, metricMessagesSent},
})

// isUnary excludes streams: their duration is that of the stream.
func isUnary(label func(name string) string) bool { return label("grpc_type") == "unary" }

// methods are what a member has counted of each RPC since its start.
type methods map[string]callsOf

type callsOf struct {
	received, sent float64
	timed          members.Sample
}

// methodsIn reads the metrics of a member.
func methodsIn(text []byte, at time.Time) methods {
	page, err := metricsOfMethods.Parse(text)
	if err != nil {
		return nil
	}
	all := methods{}
	for name, of := range page.By("grpc_method") {
		received, _ := of.Sum(metricMessagesReceived)
		sent, _ := of.Sum(metricMessagesSent)
		all[name] = callsOf{received: received, sent: sent, timed: metricsOfMethods.Sample(of, at)}
	}
	return all
}

// since returns the RPCs in use since an earlier look, the busiest first.
func (all methods) since(before methods) (used []doctor.Method) {
	for name, now := range all {
		was, known := before[name]
		m := doctor.Method{Name: name, Received: now.received - was.received, Sent: now.sent - was.sent}
		if known && m.Received+m.Sent > 0 {
			m.Handling, _ = windowOf(was.timed, now.timed).Timing(results.TimerHandling)
			used = append(used, m)
		}
	}
	slices.SortFunc(used, func(a, b doctor.Method) int {
		return cmp.Or(cmp.Compare(b.Received+b.Sent, a.Received+a.Sent), cmp.Compare(a.Name, b.Name))
	})
	return used
}
