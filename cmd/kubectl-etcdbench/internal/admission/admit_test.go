package admission

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
)

const (
	// bare is a manifest without workload and load.
	bare = `
apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmark
metadata: {namespace: default, name: run}
spec:
  target: {endpoints: ["127.0.0.1:2379"]}
`
	// run adds a load, and a workload as its argument.
	run = bare + `  load: {requests: 100}
  workload: %s
`
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := u.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	return u
}

// An objective on an operation that the workload never sends is refused before the run.
func TestObjectivesAreOnSentOperations(t *testing.T) {
	s, err := Runs()
	if err != nil {
		t.Fatal(err)
	}
	latency := s.structural.Properties["spec"].Properties["objectives"].Items.Properties["latency"]
	all := latency.Properties["operation"].ValueValidation.Enum
	if len(all) != spec.Operations {
		t.Fatalf("wanted an operation of the schema for each that is measured, %d, got %d", spec.Operations, len(all))
	}
	for _, w := range []string{
		`{type: Put, put: {}}`,
		`{type: Range, range: {consistency: Linearizable}}`,
		`{type: Mixed, mixed: {readPercent: 50}}`,
		`{type: Range, range: {delivery: Pages, keysPerRequest: 2000, keysPerPage: 500, keys: {count: 5000}}}`,
		`{type: Mixed, mixed: {readPercent: 50, inTransaction: true}}`,
		`{type: Mixed, mixed: {readPercent: 0}}`,
		`{type: Mixed, mixed: {readPercent: 100}}`,
		`{type: Delete, delete: {keys: {count: 100}}}`,
		`{type: Txn, txn: {putsPerTransaction: 2}}`,
		`{type: Txn, txn: {mode: CompareAndSwap}}`,
		`{type: STM, stm: {}}`,
		`{type: Lock, lock: {}}`,
		`{type: Election, election: {}}`,
		`{type: Lease, lease: {operation: Grant}}`,
		`{type: Lease, lease: {operation: KeepAlive, keepAlive: {}}}`,
		`{type: Lease, lease: {operation: Revoke}}`,
		`{type: Watch, watch: {}}`,
		`{type: WatchGet, watchGet: {}}`,
		`{type: Kubernetes, kubernetes: {profile: Small}}`,
	} {
		t.Run(w, func(t *testing.T) {
			created, err := s.Create(object(t, fmt.Sprintf(run, w)), time.Now())
			if err != nil {
				t.Fatal(err)
			}
			p, err := benchmark.Plan(created, created.Spec.Target.Endpoints)
			if err != nil {
				t.Fatal(err)
			}
			sent := p.Operations()
			for _, operation := range all {
				name := fmt.Sprint(operation.Object)
				_, err := s.Create(object(t, fmt.Sprintf(run, w)+fmt.Sprintf(
					"  objectives: [{name: o, type: Latency, latency: {operation: %s, statistic: P99, maxMicroseconds: 1}}]\n", name)), time.Now())
				if slices.Contains(sent, spec.Operation(name)) {
					if err != nil {
						t.Errorf("%s is sent, and an objective on it is refused: %v", name, err)
					}
					continue
				}
				if err == nil {
					t.Errorf("%s is not sent, and an objective on it is accepted", name)
					continue
				}
				causes := err.(apierrors.APIStatus).Status().Details.Causes
				if len(causes) != 1 || causes[0].Field != "spec.objectives" {
					t.Errorf("wanted one error that %s is not sent: %v", name, err)
				}
			}
		})
	}
}

func TestUnknownFieldsAreNamed(t *testing.T) {
	s, err := Runs()
	if err != nil {
		t.Fatal(err)
	}
	u := object(t, fmt.Sprintf(run, `{type: Put, put: {sise: 1}}`))
	u.Object["extra"] = "x"
	u.Object["metadata"].(map[string]any)["label"] = map[string]any{"a": "b"}
	_, err = s.Create(u, time.Now())
	if !apierrors.IsBadRequest(err) {
		t.Fatalf("wanted a bad request, got %v", err)
	}
	for _, want := range []string{`unknown field "metadata.label"`, `unknown field "spec.workload.put.sise"`, `unknown field "extra"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("wanted %s in: %v", want, err)
		}
	}
}

// A new rule about immutable fields must not prevent spec.stop on a run that is older than the rule.
func TestRulesOfCreationDoNotApplyToOldRuns(t *testing.T) {
	s, err := Runs()
	if err != nil {
		t.Fatal(err)
	}
	objective := "  objectives: [{name: o, type: Latency, latency: {operation: %s, statistic: P99, maxMicroseconds: 1}}]\n"
	late := "  guard: {allowStoreWide: true}\n  disturbances: [{type: Compact, everySeconds: 3600}]\n"
	for name, text := range map[string]string{
		"an objective":              fmt.Sprintf(run, `{type: Put, put: {}}`) + fmt.Sprintf(objective, "Range"),
		"an objective of mixed":     fmt.Sprintf(run, `{type: Mixed, mixed: {readPercent: 0}}`) + fmt.Sprintf(objective, "Range"),
		"an objective of txn":       fmt.Sprintf(run, `{type: Txn, txn: {putsPerTransaction: 2}}`) + fmt.Sprintf(objective, "Range"),
		"an objective of leases":    fmt.Sprintf(run, `{type: Lease, lease: {operation: Grant}}`) + fmt.Sprintf(objective, "Range"),
		"an objective of locks":     fmt.Sprintf(run, `{type: Lock, lock: {}}`) + fmt.Sprintf(objective, "Range"),
		"an objective of watches":   fmt.Sprintf(run, `{type: Watch, watch: {}}`) + fmt.Sprintf(objective, "Range"),
		"an objective of the past":  fmt.Sprintf(run, `{type: WatchGet, watchGet: {}}`) + fmt.Sprintf(objective, "Put"),
		"an objective of API calls": fmt.Sprintf(run, `{type: Kubernetes, kubernetes: {profile: Small}}`) + fmt.Sprintf(objective, "Range"),
		"beside a profile":          bare + "  profile: Small\n" + late,
		"beside stages":             strings.Replace(fmt.Sprintf(run, `{type: Put, put: {}}`), "{requests: 100}", "{rate: {stages: [{perSecond: 1, seconds: 9}]}}", 1) + late,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := s.Create(object(t, text), time.Now()); err == nil {
				t.Fatal("it can be created")
			}
			old := object(t, text)
			defaulting.Default(old.Object, s.structural)
			changed := old.DeepCopy()
			if err := unstructured.SetNestedField(changed.Object, true, "spec", "stop"); err != nil {
				t.Fatal(err)
			}
			errs, _ := s.rules.of(changed.Object).Validate(t.Context(), nil, s.structural, changed.Object, old.Object, celconfig.RuntimeCELCostBudget)
			if len(errs) > 0 {
				t.Errorf("it cannot be stopped: %v", errs)
			}
		})
	}
}

// Rules are compiled when an object first has their field.
func TestTheRulesOfALaterObjectAreChecked(t *testing.T) {
	Forget()
	s, err := Runs()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(object(t, fmt.Sprintf(run, `{type: Put, put: {}}`)), time.Now()); err != nil {
		t.Fatal(err)
	}
	late := `{type: Txn, txn: {mode: Puts}}`
	if _, err := s.Create(object(t, fmt.Sprintf(run, late)), time.Now()); err == nil {
		t.Error("a transaction of no puts can be created")
	}
}
