package benchmark

import (
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// TargetStatus returns the resolved addresses of the target and, if t is not nil, what the target reported.
func TargetStatus(b *v1alpha1.EtcdBenchmark, endpoints []string, t *results.Target) *v1alpha1.TargetStatus {
	out := &v1alpha1.TargetStatus{Endpoints: v1alpha1.HostPorts(endpoints), KeyPrefix: b.KeyPrefix()}
	if t == nil {
		return out
	}
	out.ClusterID = t.ClusterID
	for _, m := range t.Members {
		out.Members = append(out.Members, memberStatus(m))
		if m.Leader {
			out.Leader, out.Version = m.Label(), m.Version
		}
	}
	return out
}

func memberStatus(m results.Member) v1alpha1.MemberStatus {
	out := v1alpha1.MemberStatus{
		ID:            m.ID,
		Name:          m.Name,
		Endpoint:      m.Endpoint,
		Version:       m.Version,
		Leader:        m.Leader,
		DatabaseBytes: m.DatabaseBytes,
	}
	if m.QuotaBytes > 0 {
		out.QuotaBytes = &m.QuotaBytes
	}
	if m.ResidentMemoryBytes > 0 {
		out.ResidentMemoryBytes = &m.ResidentMemoryBytes
	}
	return out
}
