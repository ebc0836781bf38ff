package workload

import (
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func TestObjectsAreToldFromOtherKeys(t *testing.T) {
	keys := KeysOf(plan.Plan{Prefix: "p/"})
	for _, resource := range Resources {
		for _, number := range []int64{0, 7, 10, 999_999, 1_000_000, 1 << 40} {
			key := keys.AppendObject(nil, resource, number)
			if !keys.IsObject(key) {
				t.Errorf("%q is not taken for an object", key)
			}
			for _, other := range []string{string(key) + "/x", string(key) + "\x00", "q" + string(key)} {
				if keys.IsObject([]byte(other)) {
					t.Errorf("%q is taken for an object", other)
				}
			}
		}
	}
	for _, other := range []string{"", "7", "p/registry/pods/", "p/registry/pods/namespace-1/pod-000000000002", "p/registry/configmaps/namespace-1/pod-000000000001", "p/registry/pods/namespace-1/pod-99999999999999999999"} {
		if keys.IsObject([]byte(other)) {
			t.Errorf("%q is taken for an object", other)
		}
	}
}
