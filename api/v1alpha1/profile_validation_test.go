package v1alpha1_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// withProfile are the edits that replace workload and load by a profile.
func withProfile(profile string, more ...edit) []edit {
	return append([]edit{{"spec.workload", ""}, {"spec.load", ""}, {"spec.profile", profile}}, more...)
}

func TestAdmissionOfProfiles(t *testing.T) {
	const (
		alone    = "spec.profile: Invalid value: cannot be combined with workload, load or objectives"
		workload = "spec.workload: Required value: set workload and load, or set only profile"
		load     = "spec.load: Required value: set workload and load, or set only profile"
	)
	tests := map[string]struct {
		edits []edit
		// want is a part of the rejection; empty if the object is good.
		want string
	}{
		"a profile alone":           {withProfile("Small"), ""},
		"the shortest timeout":      {withProfile("XLarge", edit{"spec.timeoutSeconds", "61"}), ""},
		"an unknown profile":        {withProfile("Huge"), `supported values: "Small", "Medium", "Large", "XLarge"`},
		"a profile and a workload":  {[]edit{{"spec.load", ""}, {"spec.profile", "Small"}}, alone},
		"a profile and a load":      {[]edit{{"spec.workload", ""}, {"spec.profile", "Small"}}, alone},
		"a profile and objectives":  {withProfile("Small", edit{"spec.objectives", objectives}), alone},
		"a workload without a load": {[]edit{{"spec.load", ""}}, load},
		"a load without a workload": {[]edit{{"spec.workload", ""}}, workload},
		"neither":                   {[]edit{{"spec.workload", ""}, {"spec.load", ""}}, load},
		"too short a timeout":       {withProfile("Small", edit{"spec.timeoutSeconds", "60"}), "spec.timeoutSeconds: Invalid value: must be greater than 60"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := create(t, object(t, tc.edits...))
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(refusal(err), tc.want) {
				t.Errorf("wanted a rejection that says %q, found: %v", tc.want, err)
			}
		})
	}
}

func TestProfilesAreImmutable(t *testing.T) {
	tests := map[string]struct {
		before, changes []edit
	}{
		"change": {withProfile("Small"), []edit{{"spec.profile", "Large"}}},
		"remove": {withProfile("Small"), []edit{{"spec.profile", ""}, {"spec.workload", `{type: Put, put: {}}`}, {"spec.load", `{requests: 1}`}}},
		"add":    {nil, withProfile("Small")},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := object(t, tc.before...)
			if err := create(t, o); err != nil {
				t.Fatal(err)
			}
			apply(t, o, tc.changes...)
			if err := api.Update(t.Context(), o); err == nil || !strings.Contains(refusal(err), "spec.profile: Invalid value: field is immutable") {
				t.Errorf("wanted a rejection that says that spec.profile is immutable, found: %v", err)
			}
		})
	}
}

// The resolved spec of a profile, or of a number of nodes, is a valid spec, with all defaults set.
func TestProfilesStandForASpecOfTheirOwn(t *testing.T) {
	short := map[string]v1alpha1.EtcdBenchmarkSpec{}
	for _, profile := range []v1alpha1.Profile{v1alpha1.ProfileSmall, v1alpha1.ProfileMedium, v1alpha1.ProfileLarge, v1alpha1.ProfileXLarge} {
		short[string(profile)] = v1alpha1.EtcdBenchmarkSpec{Profile: profile}
	}
	for _, nodes := range []int32{50, 500, 5000} {
		short[fmt.Sprint(nodes)] = v1alpha1.EtcdBenchmarkSpec{Kubernetes: &v1alpha1.KubernetesCluster{Nodes: nodes}}
	}
	for name, s := range short {
		t.Run(name, func(t *testing.T) {
			want := (&v1alpha1.EtcdBenchmark{Spec: s}).Resolved()
			long := &v1alpha1.EtcdBenchmark{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "p-"},
				Spec: v1alpha1.EtcdBenchmarkSpec{
					Target:   v1alpha1.Target{Endpoints: []string{"127.0.0.1:2379"}},
					Workload: want.Workload, Load: want.Load, Objectives: want.Objectives,
				},
			}
			if err := create(t, long); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, long.Resolved()); diff != "" {
				t.Errorf("the API server changed the derived spec (-derived +admitted):\n%s", diff)
			}
		})
	}
}
