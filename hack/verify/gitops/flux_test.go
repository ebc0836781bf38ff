package gitops

import (
	"os"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	flux "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// What kstatus, the library of Flux, makes of our conditions, and what the expressions of the sample make of them.
func TestStatusForFlux(t *testing.T) {
	expressions := fluxExpressions(t)
	for name, tc := range situations() {
		t.Run(name, func(t *testing.T) {
			o := unstructuredOf(t, tc.object)
			got, err := status.Compute(o)
			if err != nil || got.Status.String() != tc.flux {
				t.Errorf("kstatus says %v (%v), wanted %s", got, err, tc.flux)
			}
			if got := evaluated(t, expressions[o.GetKind()], o); got != tc.expression {
				t.Errorf("the expressions say %s, wanted %s", got, tc.expression)
			}
		})
	}
}

// A schedule is current while it can start its sessions, whatever they find.
func TestStatusOfSchedulesForFlux(t *testing.T) {
	for kind, want := range map[string]status.Status{v1alpha1.ConditionStalled: status.FailedStatus, v1alpha1.ConditionTrendBroken: status.CurrentStatus} {
		sch := &v1alpha1.EtcdBenchmarkSchedule{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
		sch.Status.ObservedGeneration = 1
		if got, err := status.Compute(unstructuredOf(t, sch)); err != nil || got.Status != status.InProgressStatus {
			t.Errorf("a change that the operator has not seen: kstatus says %v (%v)", got, err)
		}
		sch.Status.ObservedGeneration = 2
		sch.Status.Conditions = []metav1.Condition{{Type: kind, Status: metav1.ConditionTrue, Reason: "Any"}}
		if got, err := status.Compute(unstructuredOf(t, sch)); err != nil || got.Status != want {
			t.Errorf("%s: kstatus says %v (%v), wanted %s", kind, got, err, want)
		}
	}
}

// expressions are those of a kind, in the order in which Flux evaluates them.
type expressions = kustomize.CustomHealthCheck

// fluxExpressions returns the expressions of the sample by kind. The sample has only fields that Flux knows.
func fluxExpressions(t *testing.T) map[string]expressions {
	t.Helper()
	var sample flux.Kustomization
	data, err := os.ReadFile(root + "/config/gitops/flux/kustomization.yaml")
	if err == nil {
		err = yaml.UnmarshalStrict(data, &sample)
	}
	if err != nil || sample.GroupVersionKind() != flux.GroupVersion.WithKind(flux.KustomizationKind) {
		t.Fatalf("found a %v: %v", sample.GroupVersionKind(), err)
	}
	all := map[string]expressions{}
	for _, e := range sample.Spec.HealthCheckExprs {
		all[e.Kind] = e
	}
	return all
}

// evaluated is the first status whose expression is true.
func evaluated(t *testing.T, e expressions, o *unstructured.Unstructured) string {
	t.Helper()
	env, err := cel.NewEnv(cel.HomogeneousAggregateLiterals(), cel.EagerlyValidateDeclarations(true), cel.DefaultUTCTimeZone(true), ext.Strings(), cel.Variable("status", cel.DynType))
	if err != nil {
		t.Fatal(err)
	}
	found, has, err := unstructured.NestedMap(o.Object, "status")
	if err != nil {
		t.Fatal(err)
	}
	if !has {
		// Flux waits if an expression names a field that the object does not have.
		return "InProgress"
	}
	for _, one := range []struct{ name, text string }{{"InProgress", e.InProgress}, {"Failed", e.Failed}, {"Current", e.Current}} {
		checked, issues := env.Compile(one.text)
		if issues.Err() != nil {
			t.Fatal(issues.Err())
		}
		program, err := env.Program(checked)
		if err != nil {
			t.Fatal(err)
		}
		value, _, err := program.Eval(map[string]any{"status": found})
		if err != nil {
			t.Fatalf("%s: %v", one.name, err)
		}
		if value.Value() == true {
			return one.name
		}
	}
	return "none"
}
