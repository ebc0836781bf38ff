package benchmark

import (
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func planSTM(s *v1alpha1.STMWorkload) plan.Workload {
	out := keySpace(s.KeySize, s.ValueSize, s.Keys)
	out.Values = values(s.Values, s.ValueSize)
	out.STM = &plan.STM{
		Isolation: plan.Isolation(s.Isolation), Keys: int(s.KeysPerTransaction),
		WritePercent: int(s.WritePercent), Locker: plan.Locker(s.Locker),
	}
	return out
}
