package v1alpha1_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestAdmissionOfPodLossPolicies(t *testing.T) {
	tests := map[string]struct {
		edits []edit
		want  string
	}{
		"default":  {nil, "Fail"},
		"fail":     {[]edit{{"spec.onPodLost", `Fail`}}, "Fail"},
		"continue": {[]edit{{"spec.onPodLost", `Continue`}}, "Continue"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := object(t, tc.edits...)
			if err := create(t, o); err != nil {
				t.Fatal(err)
			}
			if got, _, _ := unstructured.NestedString(o.Object, "spec", "onPodLost"); got != tc.want {
				t.Errorf("spec.onPodLost is %q, wanted %q", got, tc.want)
			}
			apply(t, o, edit{"spec.onPodLost", map[string]string{"Fail": "Continue", "Continue": "Fail"}[tc.want]})
			if err := api.Update(t.Context(), o); err == nil || !strings.Contains(refusal(err), "spec.onPodLost: Invalid value: field is immutable") {
				t.Errorf("wanted a rejection that says that spec.onPodLost is immutable, found: %v", err)
			}
		})
	}
	wantRefused(t, "Unsupported value", edit{"spec.onPodLost", `Retry`})
}
