package v1alpha1_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestAdmissionOfConcurrentRuns(t *testing.T) {
	tests := map[string]struct {
		edits []edit
		want  string
	}{
		"default": {nil, "Queue"},
		"queue":   {[]edit{{"spec.target.concurrentRuns", `Queue`}}, "Queue"},
		"allow":   {[]edit{{"spec.target.concurrentRuns", `Allow`}}, "Allow"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := object(t, tc.edits...)
			if err := create(t, o); err != nil {
				t.Fatal(err)
			}
			if got, _, _ := unstructured.NestedString(o.Object, "spec", "target", "concurrentRuns"); got != tc.want {
				t.Errorf("spec.target.concurrentRuns is %q, wanted %q", got, tc.want)
			}
			apply(t, o, edit{"spec.target.concurrentRuns", map[string]string{"Queue": "Allow", "Allow": "Queue"}[tc.want]})
			if err := api.Update(t.Context(), o); err == nil || !strings.Contains(refusal(err), "spec.target: Invalid value: field is immutable") {
				t.Errorf("wanted a rejection that says that spec.target is immutable, found: %v", err)
			}
		})
	}
	wantRefused(t, "Unsupported value", edit{"spec.target.concurrentRuns", `Replace`})
}
