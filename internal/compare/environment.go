package compare

import (
	"fmt"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// SameClient reports whether two runs had the same processors for their client pods, by the client of their fingerprints.
// If one of them is not known, no difference is known.
func SameClient(a, b string) bool { return a == "" || b == "" || a == b }

func clientOf(run *v1alpha1.EtcdBenchmark) string {
	if f := fingerprintOf(run); f != nil {
		return f.Client
	}
	return ""
}

func fingerprintOf(run *v1alpha1.EtcdBenchmark) *v1alpha1.Fingerprint {
	if run.Status.Summary == nil {
		return nil
	}
	return run.Status.Summary.Fingerprint
}

// clientText names the processors of the client pods of a run; empty if they are not known.
func clientText(run *v1alpha1.EtcdBenchmark) string {
	f := fingerprintOf(run)
	if f == nil {
		return ""
	}
	return ClientText(*f)
}

// ClientText names the processors of client pods, and how much of them a pod may use; empty if they are not known.
func ClientText(f v1alpha1.Fingerprint) string {
	out := strings.Join(f.Processors, " and ")
	if out != "" && f.PodMillicores > 0 {
		out += fmt.Sprintf(", %g processors for each client pod", float64(f.PodMillicores)/1000)
	}
	return out
}
