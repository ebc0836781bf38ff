package benchmark

import (
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// disturbanceSummaries are the results of all disturbances in the spec, including those that never began.
func disturbanceSummaries(b *v1alpha1.EtcdBenchmark, all map[spec.DisturbanceType]*results.Disturbance) []v1alpha1.DisturbanceSummary {
	var out []v1alpha1.DisturbanceSummary
	for _, wanted := range b.Spec.Disturbances {
		summary := v1alpha1.DisturbanceSummary{Type: wanted.Type}
		if d := all[wanted.Type]; d != nil && d.Count > 0 {
			summary = disturbanceSummary(wanted.Type, d)
		}
		out = append(out, summary)
	}
	return out
}

func disturbanceSummary(t spec.DisturbanceType, d *results.Disturbance) v1alpha1.DisturbanceSummary {
	out := v1alpha1.DisturbanceSummary{
		Type: t, Count: int64(d.Count), Failed: int64(d.Failed), LeftOut: int64(d.LeftOut), Problem: text.Shorten(d.Problem, v1alpha1.MaxMessageLength),
		MeanMicroseconds: toMicros(d.Took / time.Duration(d.Count)), MaxMicroseconds: toMicros(d.Longest),
	}
	for _, m := range d.Marks {
		out.Marks = append(out.Marks, v1alpha1.DisturbanceMark{
			AfterMicroseconds: toMicros(m.After), TookMicroseconds: toMicros(m.Took), Member: text.Shorten(m.Member, v1alpha1.MaxMarkMemberLength),
		})
	}
	return out
}
