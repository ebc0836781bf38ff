package lifecycle

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// WhyKeysLeft says why keys are left under a prefix after this cleanup, and what a user does about them. It advises the command only
// if that helps: not while a client pod writes, and not about keys of others. If there was no cleanup Job, nothing is known
// about the keys.
func (c Cleanup) WhyKeysLeft(prefix string, l workload.Leftover) string {
	switch {
	case c.StillWrites:
		return fmt.Sprintf("The cleanup Job failed: %s. End the process of that pod on its node, and only then delete the keys under the prefix %s.", c.Failed, prefix)
	case c.Spared:
		return fmt.Sprintf("The cleanup Job left keys alone: %s.", c.Failed)
	case c.Failed != "":
		return fmt.Sprintf("The cleanup Job failed: %s. %s", c.Failed, l)
	}
	return fmt.Sprintf("Keys may be left under the prefix %s. %s", prefix, l)
}

// WhyKeysLeft says the same of a run, by its status.
func WhyKeysLeft(run *v1alpha1.EtcdBenchmark) string {
	known := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionCleaned)
	if known != nil && known.Status != metav1.ConditionTrue {
		return known.Message
	}
	return Cleanup{}.WhyKeysLeft(run.KeyPrefix(), benchmark.Leftover(run))
}
