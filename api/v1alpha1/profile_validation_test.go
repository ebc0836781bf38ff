package v1alpha1_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// withProfile is an object whose profile stands for all that it replaces.
func withProfile(profile string, more ...edit) []edit {
	return append([]edit{{"spec.workload", ""}, {"spec.load", ""}, {"spec.profile", profile}}, more...)
}

func TestAdmissionOfProfiles(t *testing.T) {
	const both = "spec.workload and spec.load must both be set, or spec.profile"
	tests := map[string]struct {
		edits []edit
		// want is a part of the rejection; empty if the object is good.
		want string
	}{
		"a profile alone":           {withProfile("Small"), ""},
		"a profile with an ending":  {withProfile("XLarge", edit{"spec.timeoutSeconds", "61"}), ""},
		"no such profile":           {withProfile("Huge"), `supported values: "Small", "Medium", "Large", "XLarge"`},
		"a profile and a workload":  {[]edit{{"spec.load", ""}, {"spec.profile", "Small"}}, both},
		"a profile and a load":      {[]edit{{"spec.workload", ""}, {"spec.profile", "Small"}}, both},
		"a profile and objectives":  {withProfile("Small", edit{"spec.objectives", objectives}), both},
		"a workload without a load": {[]edit{{"spec.load", ""}}, both},
		"a load without a workload": {[]edit{{"spec.workload", ""}}, both},
		"neither":                   {[]edit{{"spec.workload", ""}, {"spec.load", ""}}, both},
		"a profile cut short":       {withProfile("Small", edit{"spec.timeoutSeconds", "60"}), "spec.timeoutSeconds must be greater than 60"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := create(t, object(t, tc.edits...))
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
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
			if err := api.Update(t.Context(), o); err == nil || !strings.Contains(err.Error(), "spec.profile is immutable") {
				t.Errorf("wanted a rejection that says that spec.profile is immutable, found: %v", err)
			}
		})
	}
}

// What a profile stands for is a spec that anybody could write, with every
// default in its place.
func TestProfilesStandForASpecOfTheirOwn(t *testing.T) {
	for _, profile := range []v1alpha1.Profile{v1alpha1.ProfileSmall, v1alpha1.ProfileMedium, v1alpha1.ProfileLarge, v1alpha1.ProfileXLarge} {
		t.Run(string(profile), func(t *testing.T) {
			short := &v1alpha1.EtcdBenchmark{Spec: v1alpha1.EtcdBenchmarkSpec{Profile: profile}}
			want := short.Resolved()
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
				t.Errorf("the API server makes something else of the profile (-profile +admitted):\n%s", diff)
			}
		})
	}
}
