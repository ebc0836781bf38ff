package benchmark

import (
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func planDisturbances(all []v1alpha1.Disturbance) []plan.Disturbance {
	var out []plan.Disturbance
	for _, d := range all {
		planned := plan.Disturbance{Kind: plan.DisturbanceKind(d.Type), EverySeconds: int(d.EverySeconds)}
		switch {
		case d.Compact != nil:
			planned.KeepRevisions = d.Compact.KeepRevisions
		case d.Type == v1alpha1.DisturbanceCompact:
			planned.KeepRevisions = v1alpha1.DefaultKeepRevisions
		case d.LeaseExpiry != nil:
			planned.Storm = &plan.Storm{Leases: d.LeaseExpiry.Leases, KeysPerLease: d.LeaseExpiry.KeysPerLease, TTLSeconds: d.LeaseExpiry.TTLSeconds}
		}
		out = append(out, planned)
	}
	return out
}
