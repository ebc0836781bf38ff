package etcd

import (
	"strings"
	"testing"

	"go.etcd.io/etcd/server/v3/embed"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// limited starts a member with limits of a request.
func limited(t *testing.T, requestBytes, operations uint) *etcdtest.Cluster {
	t.Helper()
	return etcdtest.Start(t, 1, nil, func(c *embed.Config) { c.MaxRequestBytes, c.MaxTxnOps = requestBytes, operations })
}

// A result has etcd's own words for what it refused.
func TestARefusedRequestIsExplainedByEtcd(t *testing.T) {
	cluster := limited(t, 1024, 16)
	for name, tc := range map[string]struct {
		change    func(*plan.Plan)
		operation spec.Operation
		want      string
	}{
		"a value":       {func(p *plan.Plan) { p.Workload.Put.Values.SizeBytes = 2000 }, spec.OperationPut, "request is too large"},
		"a transaction": {txnPlan(32, 100), spec.OperationTxn, "too many operations"},
	} {
		overBoth(t, func(t *testing.T, transport func(*plan.Plan)) {
			s := runAll(t, planFor(cluster.Endpoints, transport, tc.change, func(p *plan.Plan) { p.Load.Pods, p.Load.Requests = 2, new(int64(20)) }))
			o := results.Merge(s).Operations[tc.operation]
			if o.Failed.Count() != 20 || !strings.Contains(o.Examples["InvalidArgument"], tc.want) {
				t.Errorf("%s: %d requests failed, %v, %v; wanted %q", name, o.Failed.Count(), o.Errors, o.Examples, tc.want)
			}
		})
	}
}
