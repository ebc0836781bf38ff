package advice

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

var some = Command{
	Set:   true,
	Fixed: map[string]string{"load": "--profile"},
	Flags: map[string]Flag{
		"profile": {Name: "--profile"}, "target.members": {Name: "--target-leader", Switch: true}, "timeoutSeconds": {Name: "--limit"},
		"set spec.target.tls": {Name: "add --cacert"}, "set spec.target.tls.serverName": {Name: "add --tls-server-name"},
	},
}

func TestText(t *testing.T) {
	for message, want := range map[string]string{
		"set spec.guard.acknowledgeControlPlane: true to load it":   "add --set guard.acknowledgeControlPlane=true to load it",
		"Set target.unreachableMembers: Skip.":                      "Add --set target.unreachableMembers=Skip.",
		"raise spec.guard.maxFreeQuotaPercent, or set guard.stopOn": "raise --set guard.maxFreeQuotaPercent, or add --set guard.stopOn=VALUE",
		"with spec.target.concurrentRuns: Allow.":                   "with --set target.concurrentRuns=Allow.",
		"Set spec.timeoutSeconds to 30 and run":                     "Add --limit 30 and run",
		"that target.members: Leader selects":                       "that --target-leader selects",
		"choose a smaller spec.profile.":                            "choose a smaller --profile.",
		"lower load.connections, or spec.load.rate":                 "lower load.connections (which --profile fixes), or spec.load.rate (which --profile fixes)",
		"serves TLS; set spec.target.tls":                           "serves TLS; add --cacert",
		"or set spec.target.tls.serverName to one":                  "or add --tls-server-name to one",
		"spec.schedulingTimeoutSeconds: Invalid value":              "--set schedulingTimeoutSeconds: Invalid value",
		"--set guard.acceptWrites: Invalid value: 3":                "--set guard.acceptWrites: Invalid value: 3",
		"status.target.endpoints, target.example:2379, load.go":     "status.target.endpoints, target.example:2379, load.go",
		"spec.loads[0].load.clients: must be":                       "spec.loads[0].load.clients: must be",
		"the profile, the load. Profiles: 3":                        "the profile, the load. Profiles: 3",
	} {
		if got := some.Text(message); got != want {
			t.Errorf("%q became %q, wanted %q", message, got, want)
		}
		for _, manifest := range []Command{{}, {Flags: map[string]Flag{"set spec.target.user": {Name: "add --user"}}}} {
			if got := manifest.Text(message); got != message {
				t.Errorf("with a manifest, %q became %q", message, got)
			}
		}
	}
}

func TestTextsOfARunAndOfAnError(t *testing.T) {
	const before, after = "set spec.guard.acceptWrites: true", "add --set guard.acceptWrites=true"
	run := &v1alpha1.EtcdBenchmark{}
	run.Spec.Target.KeyPrefix = before
	run.Status.Conditions = []metav1.Condition{{Message: before}}
	run.Status.Summary = &v1alpha1.Summary{Warnings: []string{before}, Validity: &v1alpha1.Validity{Reasons: []v1alpha1.ValidityReason{{Change: before}}}}
	want := run.DeepCopy()
	want.Status.Conditions[0].Message, want.Status.Summary.Warnings[0], want.Status.Summary.Validity.Reasons[0].Change = after, after, after
	if diff := cmp.Diff(want, some.Run(run)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if run.Status.Summary.Warnings[0] != before {
		t.Error("the run itself was changed")
	}
	cause := errors.New(before)
	if err := some.Error(cause); err.Error() != after || !errors.Is(err, cause) {
		t.Errorf("found the error %v", err)
	}
	if some.Error(nil) != nil {
		t.Error("found an error")
	}
}
