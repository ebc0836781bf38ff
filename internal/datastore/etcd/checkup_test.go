package etcd

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/doctor"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func checkedUp(t *testing.T, endpoints ...string) (doctor.Cluster, doctor.Diagnosis) {
	t.Helper()
	c, err := Checkup(t.Context(), plan.Target{Datastore: spec.Etcd, Endpoints: endpoints}, 200*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	return c, doctor.Diagnose(c)
}

// A look writes nothing, and reads the name, the version and the leader.
func TestACheckupWritesNothing(t *testing.T) {
	cluster, client := oneMember(t)
	before := handled(t, cluster)
	revision := func() int64 {
		found, err := client.Get(t.Context(), "nothing")
		if err != nil {
			t.Fatal(err)
		}
		return found.Header.Revision
	}
	began := revision()
	c, d := checkedUp(t, cluster.Endpoints...)
	if m := c.Members[0]; m.Name == m.Endpoint || !m.IsLeader || !m.HasLeader || m.Version == "" || m.Recent == nil || m.Started == nil || m.Ping == 0 || m.Gauges[doctor.QuotaBytes] == 0 {
		t.Errorf("found %+v and %+v", m, d)
	}
	if now := revision(); now != began {
		t.Errorf("the revision rose from %d to %d", began, now)
	}
	for rpc, n := range handled(t, cluster) {
		if rose := n - before[rpc]; rose > 0 && !slices.Contains([]spec.RPC{spec.RPCStatus, spec.RPCMemberList, spec.RPCRange}, rpc) {
			t.Errorf("sent %d requests %s", rose, rpc)
		}
	}
}

// A member whose status may not be read is neither away nor without a leader.
func TestACheckupWithoutTheRightToReadStatus(t *testing.T) {
	cluster, _ := oneMember(t)
	_, d := checkedUp(t, refusing(t, cluster.Endpoints[0], "Status"))
	if len(d.Findings) > 0 {
		t.Errorf("found %+v", d.Findings)
	}
	isAlarm := func(u doctor.Undecided) bool { return u.Kind == "Alarm" && strings.Contains(u.Why, "Status") }
	if !slices.ContainsFunc(d.Undecided, isAlarm) {
		t.Errorf("wanted alarms to be undecided, found %+v", d.Undecided)
	}
}

func TestACheckupOfAnAddressThatDoesNotAnswer(t *testing.T) {
	cluster, _ := oneMember(t)
	c, d := checkedUp(t, cluster.Endpoints[0], "127.0.0.1:1")
	if c.Members[1].Problem == "" || len(d.Findings) == 0 || d.Findings[0].Kind != "Unreachable" || !strings.Contains(d.Findings[0].Message, "127.0.0.1:1") {
		t.Errorf("found %+v and %+v", c.Members[1], d.Findings)
	}
}
