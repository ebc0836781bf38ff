package etcd

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// answeredWithin asks for this long.
func answeredWithin(t *testing.T, d *Driver, limit time.Duration) (answered bool, took time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	began := time.Now()
	return d.Answers(ctx), time.Since(began)
}

// One address accepts connections and never answers. It does not delay the answer of the other one.
func TestAnAnswerOfOneMemberIsEnough(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 1, nil)
	hangs, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer hangs.Close()
	d := newDriver(t, planFor([]string{hangs.Addr().String(), cluster.Endpoints[0]}), 0)
	if answered, took := answeredWithin(t, d, 20*time.Second); !answered || took > 10*time.Second {
		t.Errorf("answered %v after %v, wanted an answer at once", answered, took)
	}
	cluster.Stop(0)
	if answered, took := answeredWithin(t, d, 2*time.Second); answered || took < 2*time.Second {
		t.Errorf("answered %v after %v although no member is up", answered, took)
	}
}

// Without a quorum, a member answers neither a linearizable read nor a login. With one, a refusal is an answer.
func TestAMemberWithoutAQuorumDoesNotAnswer(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 3, nil)
	enableAuth(t, cluster.Client(t, "", ""))
	p := planFor(cluster.Endpoints, withUser(t, "bench", "benchpass"))
	for name, plan := range map[string]plan.Plan{"a user": p, "no user": planFor(cluster.Endpoints), "a wrong password": planFor(cluster.Endpoints, withUser(t, "bench", "wrong"))} {
		if answered, _ := answeredWithin(t, newDriver(t, plan, 0), 20*time.Second); !answered {
			t.Errorf("%s: no answer although all members are up", name)
		}
	}
	cluster.Stop(1)
	cluster.Stop(2)
	if answered, _ := answeredWithin(t, newDriver(t, p, 0), 12*time.Second); answered {
		t.Error("an answer without a quorum")
	}
}
