package etcd

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/doctor"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func lookAt(t *testing.T, endpoints []string, changes ...func(*plan.Plan)) (doctor.Cluster, error) {
	t.Helper()
	p := plan.Plan{Target: plan.Target{Datastore: spec.Etcd, Endpoints: endpoints}}
	for _, change := range changes {
		change(&p)
	}
	return Checkup(t.Context(), p.Target, 200*time.Millisecond, OwnThrottling)
}

func checkedUp(t *testing.T, endpoints ...string) (doctor.Cluster, doctor.Diagnosis) {
	t.Helper()
	c, err := lookAt(t, endpoints)
	if err != nil {
		t.Fatal(err)
	}
	return c, doctor.Diagnose(c)
}

// Addresses that are not those of one cluster, each once, are refused, and so are credentials that no member accepts.
func TestACheckupIsRefused(t *testing.T) {
	one, client := oneMember(t)
	two, _ := oneMember(t)
	alias := strings.Replace(one.Endpoints[0], "127.0.0.1", "localhost", 1)
	for want, endpoints := range map[string][]string{
		"belongs to the cluster":  {one.Endpoints[0], two.Endpoints[0]},
		"lead to the same member": {one.Endpoints[0], alias},
	} {
		if _, err := lookAt(t, endpoints); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, wanted %q", err, want)
		}
	}
	enableAuth(t, client)
	if _, err := lookAt(t, one.Endpoints, withUser(t, "bench", "guess")); err == nil || !strings.Contains(err.Error(), "AuthenticationFailed") {
		t.Errorf("found %v, wanted AuthenticationFailed", err)
	}
	// One that is away does not make them right.
	c, err := lookAt(t, []string{one.Endpoints[0], "127.0.0.1:1"}, withUser(t, "bench", "guess"))
	if err != nil || !c.Members[0].Refused {
		t.Errorf("found %+v (%v), wanted a member that refuses the credentials", c.Members, err)
	}
}

func TestTheMemberOfAnAlarmIsNamed(t *testing.T) {
	c := &checkup{names: map[uint64]string{17: "m2"}}
	got := c.alarmsIn([]string{"etcdserver: no leader", "memberID:17 alarm:CORRUPT ", "alarm:CORRUPT", "memberID:18  alarm:NOSPACE"})
	want := []doctor.Alarm{{Kind: "CORRUPT", Member: "m2"}, {Kind: "CORRUPT"}, {Kind: "NOSPACE", Member: "12"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, wanted %v", got, want)
	}
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
	if length, _ := c.Members[0].Recent.Value(results.FigureSampledSeconds); length < 0.2 {
		t.Errorf("the recent window has %v s, wanted at least the 0.2 s between the looks", length)
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
