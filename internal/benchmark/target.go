package benchmark

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/internal/text"

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
		out.Members = append(out.Members, memberStatus(t, m))
		if m.Leader {
			out.Leader, out.Version = m.Label(), m.Version
		}
	}
	out.Version = cmp.Or(out.Version, commonVersion(t.Members))
	return out
}

// commonVersion returns the version of the members that answered, or "" if they have different ones.
func commonVersion(members []results.Member) (version string) {
	for _, m := range members {
		if version != "" && m.Version != "" && m.Version != version {
			return ""
		}
		version = cmp.Or(version, m.Version)
	}
	return version
}

func memberStatus(t *results.Target, m results.Member) v1alpha1.MemberStatus {
	out := v1alpha1.MemberStatus{
		ID:            m.ID,
		Name:          m.Name,
		Endpoint:      m.Endpoint,
		Version:       m.Version,
		Leader:        m.Leader,
		DatabaseBytes: m.DatabaseBytes,
	}
	if loaded, known := t.IsLoaded(m.ID); known {
		out.Loaded = &loaded
	}
	if m.QuotaBytes > 0 {
		out.QuotaBytes = &m.QuotaBytes
	}
	if m.ResidentMemoryBytes > 0 {
		out.ResidentMemoryBytes = &m.ResidentMemoryBytes
	}
	return out
}

// maxConditionMessage is a quarter of the API's limit, for readability.
const maxConditionMessage = 8 << 10

// SetCondition sets a condition of an object of this generation. Times have whole seconds, as in the API.
func SetCondition(conditions *[]metav1.Condition, c metav1.Condition, generation int64, now time.Time) {
	c.Message = text.Shorten(c.Message, maxConditionMessage)
	c.ObservedGeneration, c.LastTransitionTime = generation, metav1.NewTime(now.Truncate(time.Second))
	meta.SetStatusCondition(conditions, c)
}
