package etcd

import (
	"fmt"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/servertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// balance serves an address that leads each connection to the next of the endpoints.
func balance(t *testing.T, endpoints []string) string {
	var next atomic.Int64
	return servertest.Accept(t, func(c net.Conn) {
		defer c.Close()
		member, err := net.Dial("tcp", endpoints[int(next.Add(1))%len(endpoints)])
		if err != nil {
			return
		}
		defer member.Close()
		go func() {
			defer member.Close()
			_, _ = io.Copy(member, c)
		}()
		_, _ = io.Copy(c, member)
	})
}

// The result says which members the load reached, whatever its addresses lead to.
func answersSayWhichMembersGotLoad(t *testing.T, cluster *etcdtest.Cluster) {
	balanced := balance(t, cluster.Endpoints)
	all := cluster.Endpoints
	for name, tc := range map[string]struct {
		endpoints   []string
		connections int32
		// loaded is how many members get load, and shared is whether an address leads to several.
		loaded int
		shared bool
	}{
		"an address for each member":     {all, 4, 3, false},
		"fewer connections than members": {all, 2, 2, false},
		"one address for all members":    {[]string{balanced}, 12, 3, true},
		"the address of one member":      {[]string{all[0]}, 2, 1, false},
	} {
		for _, transport := range loadTransports() {
			t.Run(fmt.Sprint(name, ", ", transport), func(t *testing.T) {
				p := planFor(tc.endpoints, func(p *plan.Plan) { p.Load.Pods, p.Load.Connections = 2, tc.connections }, over(transport))
				s := results.Merge(runAll(t, p))
				loaded, found := 0, 0
				for _, m := range s.Target.Members {
					if is, known := s.Target.IsLoaded(m.ID); is && known {
						loaded++
					}
					if m.Endpoint != "" {
						found++
					}
					if pings, measured := m.Window.Value(results.FigurePings); measured && tc.shared {
						t.Errorf("%s answered %v pings, and it is not known which member did", m.Name, pings)
					}
				}
				if loaded != tc.loaded || found != max(len(tc.endpoints), loaded) {
					t.Errorf("%d members got load and %d have an address, wanted %d with load: %v", loaded, found, tc.loaded, s.Target.AnsweredBy)
				}
				shared := slices.ContainsFunc(tc.endpoints, func(e string) bool { return len(s.Target.At(e)) > 1 })
				if shared != tc.shared {
					t.Errorf("addresses lead to %v: wanted one that leads to several members: %v", s.Target.AnsweredBy, tc.shared)
				}
			})
		}
	}
}

// Answers on a stream of the load count. Those to control requests, which have other connections, do not.
func TestStreamsSayWhichMemberAnswers(t *testing.T) {
	cluster, _ := oneMember(t)
	d := connected(t, planFor(cluster.Endpoints))
	c := connect(t, d, 0)
	if found := d.AnsweredBy(); len(found) > 0 {
		t.Errorf("found %v before the load", found)
	}
	next(t, c.client.Load().Watch(withTimeout(t), "key", clientv3.WithCreatedNotify()), "the creation of a watcher")
	want := hexID(uint64(cluster.Members[0].Server.MemberID()))
	if found := d.AnsweredBy()[cluster.Endpoints[0]]; !slices.Equal(found, []string{want}) {
		t.Errorf("found %v, wanted %s", found, want)
	}
}
