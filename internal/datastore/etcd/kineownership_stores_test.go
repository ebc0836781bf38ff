//go:build stores

package etcd

import (
	"maps"
	"slices"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/kinetest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership/ownershiptest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func TestOwnershipOfKine(t *testing.T) {
	t.Parallel()
	server := kinetest.Start(t)
	c := kineClientOf(t, server)
	ownershiptest.Run(t, ownershiptest.Target{
		Claims: func(t *testing.T, run *ownership.Run) ownership.Store {
			return kineUnder(t, server, run.Prefix, run.UID).claims
		},
		Own: func(prefix string, number int64) string {
			return objectsOf(onKine(server, func(p *plan.Plan) { p.Prefix = prefix }), number+1)[number]
		},
		Other:  func(prefix string) string { return prefix + "registry/pods/of/others/1" },
		Put:    func(t *testing.T, name string) { create(t, c, name, "x") },
		Remove: func(t *testing.T, name string) { c.remove(t, name) },
		Names: func(t *testing.T, prefix string) []string {
			return slices.Sorted(maps.Keys(keysUnder(t, c.Client, prefix)))
		},
		Steal: func(t *testing.T, run *ownership.Run) {
			c.remove(t, run.Marker())
			create(t, c, run.Marker(), "run-z deleting")
		},
		Dates: true,
	})
}
