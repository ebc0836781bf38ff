package benchmark

import (
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// A profile sets the load, so a run with one cannot set its fields.
func TestAdviceNamesFieldsThatCanBeSet(t *testing.T) {
	causes := []results.Cause{results.CauseThrottled, results.CauseBusy, results.CauseDelayed, results.CauseLate}
	for _, cause := range causes {
		r := results.Reason{Cause: cause, Change: "Raise spec.load.clients."}
		if got := advice(putRun(), r); got != r.Change {
			t.Errorf("%s without a profile: got %q", cause, got)
		}
		got := advice(putRun(func(b *v1alpha1.EtcdBenchmark) { b.Spec.Profile = v1alpha1.ProfileSmall }), r)
		if strings.Contains(got, "load.") || !strings.Contains(got, "status.resolved") || len(got) > maxMessage {
			t.Errorf("%s with a profile: got %d characters: %q", cause, len(got), got)
		}
	}
}

func TestTheResultHasAdviceThatFits(t *testing.T) {
	late := results.Summary{Validity: results.Validity{Reasons: []results.Reason{{Cause: results.CauseLate, Change: "Raise spec.load.clients."}}}}
	b := &v1alpha1.EtcdBenchmark{Spec: v1alpha1.EtcdBenchmarkSpec{Profile: v1alpha1.ProfileMedium}}
	if got := Summary(b, late).Validity.Reasons[0].Change; !strings.Contains(got, "smaller spec.profile") {
		t.Errorf("got the advice %q", got)
	}
}
