package etcd

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/etcd/server/v3/embed"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// A run outlasts its tokens, and a change of the users, which makes every token invalid. No request fails.
func TestARunOutlastsItsTokens(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("of the test"), 0o600); err != nil {
		t.Fatal(err)
	}
	cluster := etcdtest.Start(t, 1, nil, func(c *embed.Config) {
		c.AuthToken = "jwt,sign-method=HS256,ttl=3s,priv-key=" + secret
	})
	enableAuth(t, cluster.Client(t, "", ""))
	for _, transport := range loadTransports() {
		t.Run(string(transport), func(t *testing.T) {
			p := planFor(cluster.Endpoints, withUser(t, "bench", "benchpass"), over(transport), func(p *plan.Plan) { timed(&p.Load, 8, 200) })
			session, _ := runOne(t, p)
			awaitSnapshot(t, session, func(s *results.Snapshot) bool { return s.Started > 100 })
			if _, err := cluster.Client(t, "root", "secret").UserAdd(t.Context(), fmt.Sprint("user of ", transport), "secret"); err != nil {
				t.Fatal(err)
			}
			s := awaitSnapshot(t, session, func(s *results.Snapshot) bool { return s.Stage == results.StageDone })
			got := s.Operations[spec.OperationPut]
			if n := got.Latency.Count(); s.Failure != nil || n < 100 || len(got.Errors) > 0 || s.Cleaning != results.CleaningKeysDeleted {
				t.Errorf("%d puts, the errors %v, failure %+v, cleaning %s", n, got.Errors, s.Failure, s.Cleaning)
			}
			if s.Resent == 0 {
				t.Error("no request was sent again")
			}
		})
	}
}
