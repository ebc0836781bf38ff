package manifest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const good = `# A comment, and an empty document before the only one.
---
apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmark
metadata:
  name: puts
spec:
  load:
    pods: 3
    unknown: 1
  objectives:
  - name: first
  - name: second
    type: Latency
---
`

func TestRead(t *testing.T) {
	m, err := Read("run.yaml", strings.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Object.GetName(); got != "puts" {
		t.Errorf("wanted the object puts, got %q", got)
	}
	load := m.Object.Object["spec"].(map[string]any)["load"].(map[string]any)
	if load["unknown"] != int64(1) {
		t.Errorf("a field is missing: %v", load)
	}
}

func TestReadRefuses(t *testing.T) {
	head := "apiVersion: etcdbench.dev/v1alpha1\nkind: EtcdBenchmark\n"
	cases := map[string]struct{ in, want string }{
		"nothing":            {"", "empty"},
		"comments only":      {"# nothing\n---\n", "empty"},
		"two documents":      {head + "---\n" + head, "second document in line 4: put each EtcdBenchmark into a file of its own"},
		"broken YAML":        {head + "spec: [\n", "line "},
		"a list":             {"- a\n- b\n", "line 1"},
		"a field twice":      {head + "spec:\n  a: 1\n  a: 2\n", `line 5: field "a" is written twice`},
		"another kind":       {"apiVersion: v1\nkind: Pod\n", `line 2: kind: wanted EtcdBenchmark or EtcdBenchmarkSuite, found "Pod"`},
		"another version":    {"apiVersion: etcdbench.dev/v9\nkind: EtcdBenchmark\n", "line 1: apiVersion: wanted etcdbench.dev/v1alpha1"},
		"no kind":            {"apiVersion: etcdbench.dev/v1alpha1\n", "kind: wanted EtcdBenchmark, found none"},
		"larger than it may": {head + "#" + strings.Repeat("x", MaxBytes), "at most"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Read("run.yaml", strings.NewReader(tc.in))
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "run.yaml") {
				t.Errorf("wanted an error with run.yaml and %q, got %v", tc.want, err)
			}
		})
	}
}

// The YAML parser reports some tabs as other characters, and often with an earlier line.
func TestErrorsNameTabs(t *testing.T) {
	head := "apiVersion: etcdbench.dev/v1alpha1\nkind: EtcdBenchmark\nmetadata:\n"
	cases := map[string]struct {
		in   string
		line int
	}{
		"first field":            {head + "\tname: x\n", 4},
		"after spaces":           {head + "  \tname: x\n", 4},
		"second field":           {head + "  name: x\n\tlabels: {}\n", 5},
		"a list":                 {head + "  name: x\n  finalizers:\n\t- a\n", 6},
		"within a block of text": {head + "  annotations:\n    a: |\n      x\n\t\ty\n", 7},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Read("run.yaml", strings.NewReader(tc.in))
			want := fmt.Sprintf("line %d: found a tab, and YAML does not allow tabs for indentation: use spaces", tc.line)
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "run.yaml") {
				t.Errorf("wanted an error with run.yaml and %q, got %v", want, err)
			}
		})
	}
	for name, in := range map[string]string{
		"another character": head + "  name: @x\n",
		"a tab elsewhere":   head + "  annotations:\n    a: |\n      x\n      \ty\n  name: @x\n",
	} {
		if _, err := Read("run.yaml", strings.NewReader(in)); err == nil || strings.Contains(err.Error(), "tab") {
			t.Errorf("%s: wanted an error that does not blame a tab, got %v", name, err)
		}
	}
}

func TestExplainSuggestsTheClosestField(t *testing.T) {
	cases := map[string]struct {
		field string
		// want is the suggestion; empty for none.
		want string
	}{
		"two letters swapped":  {"spec.load.cleints", "clients"},
		"a letter missing":     {"spec.workload.put.keys.distributon", "distribution"},
		"without the unit":     {"spec.load.duration", "durationSeconds"},
		"other case":           {"spec.load.Pods", "pods"},
		"shorter of two":       {"spec.load.request", "requests"},
		"in a list":            {"spec.objectives[0].typ", "type"},
		"at the top":           {"specs", "spec"},
		"metadata":             {"metadata.label", "labels"},
		"nothing close":        {"spec.load.threads", ""},
		"too short to compare": {"spec.load.x", ""},
		"no such parent":       {"spec.loads.pods", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m, err := Read("run.yaml", strings.NewReader(good))
			if err != nil {
				t.Fatal(err)
			}
			got := m.Explain(apierrors.NewBadRequest(`strict decoding error: unknown field "` + tc.field + `"`)).Error()
			want := tc.field + ": unknown field"
			if tc.want != "" {
				want += `; did you mean "` + tc.want + `"?`
			}
			before, listed, _ := strings.Cut(got, " (valid: ")
			if !strings.HasSuffix(before, want) {
				t.Errorf("wanted %q at the end of %q", want, before)
			}
			if tc.want != "" && !strings.Contains(", "+strings.TrimSuffix(listed, ")")+", ", ", "+tc.want+", ") {
				t.Errorf("wanted %s among the valid fields, found %q", tc.want, listed)
			}
		})
	}
}

func TestExplainKnowsTheFieldsOfASuite(t *testing.T) {
	m, err := Read("suite.yaml", strings.NewReader("apiVersion: etcdbench.dev/v1alpha1\nkind: EtcdBenchmarkSuite\nmetadata: {name: s}\nspec: {load: []}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Explain(apierrors.NewBadRequest(`strict decoding error: unknown field "spec.load"`)).Error(); !strings.Contains(got, `did you mean "loads"?`) {
		t.Errorf("got %q", got)
	}
}

func TestExplainNamesLines(t *testing.T) {
	m, err := Read("run.yaml", strings.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	kind := schema.GroupKind{Group: "etcdbench.dev", Kind: "EtcdBenchmark"}
	invalid := apierrors.NewInvalid(kind, "puts", field.ErrorList{
		field.Invalid(field.NewPath("spec", "load", "pods"), 3, "too many"),
		field.Required(field.NewPath("spec", "target", "endpoints"), "say where"),
		field.Invalid(field.NewPath("spec", "objectives").Index(1).Child("type"), "Latency", "is wrong"),
	})
	strict := apierrors.NewBadRequest(`EtcdBenchmark in version "v1alpha1" cannot be handled as a EtcdBenchmark: strict decoding error: unknown field "spec.load.unknown"`)
	cases := map[string]struct {
		err   error
		lines []int
	}{
		"invalid fields, missing ones at their parent": {invalid, []int{9, 7, 14}},
		"unknown field": {strict, []int{10}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			explained, ok := errors.AsType[*Error](m.Explain(tc.err))
			if !ok {
				t.Fatalf("not explained: %v", m.Explain(tc.err))
			}
			for i, want := range tc.lines {
				if got := explained.Problems[i]; got.Line != want {
					t.Errorf("wanted line %d, got %+v", want, got)
				}
			}
		})
	}
	if other := errors.New("other"); m.Explain(other) != other {
		t.Error("an error that is not a refusal was changed")
	}
}

func TestExplainLeavesOutRepetitions(t *testing.T) {
	m, err := Read("run.yaml", strings.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	kind := schema.GroupKind{Group: "etcdbench.dev", Kind: "EtcdBenchmark"}
	err = m.Explain(apierrors.NewInvalid(kind, "puts", field.ErrorList{
		field.TypeInvalid(field.NewPath("spec", "load", "pods"), "float64", "must be of type integer"),
		field.Invalid(field.NewPath(""), "", "Checked value must be of type integer with format int32 in spec.load.pods"),
		field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"),
	}))
	explained, ok := errors.AsType[*Error](err)
	if !ok || len(explained.Problems) != 1 || explained.Problems[0].Field != "spec.load.pods" {
		t.Errorf("wanted one problem, got %v", err)
	}
}

// An API server's refusal has the name of the type, not the value.
func TestExplainShowsTheValueOfTheWrongType(t *testing.T) {
	const loads = `load: {pods: %s}`
	kind := schema.GroupKind{Group: "etcdbench.dev", Kind: "EtcdBenchmark"}
	cases := map[string]string{
		"ten": `found "ten"`, `"10"`: `found "10"`, "1.5": "found 1.5", "true": "found true", "{a: 1}": "found fields", "[1]": "found a list",
		"~": "found nothing", strings.Repeat("x", 61): `found "` + strings.Repeat("x", 60) + `…"`,
	}
	for value, want := range cases {
		m, err := Read("run.yaml", strings.NewReader("apiVersion: etcdbench.dev/v1alpha1\nkind: EtcdBenchmark\nspec:\n  "+fmt.Sprintf(loads, value)))
		if err != nil {
			t.Fatal(err)
		}
		err = m.Explain(apierrors.NewInvalid(kind, "puts", field.ErrorList{
			field.TypeInvalid(field.NewPath("spec", "load", "pods"), "string", `spec.load.pods in body must be of type integer: "string"`),
		}))
		if err == nil || !strings.Contains(err.Error(), "line 4: spec.load.pods: wanted integer, "+want) {
			t.Errorf("%s: wanted an error with %s, got %v", value, want, err)
		}
	}
}

func TestExplainShowsTheValueOfTheWrongTypeInMetadata(t *testing.T) {
	cases := map[string]struct{ labels, says, want string }{
		"no fields":          {"5", "labels of type map[string]string", "line 4: metadata.labels: wanted object, found 5"},
		"by an API server":   {"5", "metadata.labels of type map[string]string", "line 4: metadata.labels: wanted object, found 5"},
		"a number in fields": {"\n    app: etcd\n    version: 1.0", "labels of type string", "line 6: metadata.labels.version: wanted string, found 1.0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m, err := Read("run.yaml", strings.NewReader("apiVersion: etcdbench.dev/v1alpha1\nkind: EtcdBenchmark\nmetadata:\n  labels: "+tc.labels+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			err = m.Explain(apierrors.NewBadRequest("json: cannot unmarshal number into Go struct field ObjectMeta." + tc.says))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("wanted %q, got %v", tc.want, err)
			}
		})
	}
}

func TestSetNamesTheFlag(t *testing.T) {
	m, err := Read("run.yaml", strings.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	m.Set("--endpoints", "spec.target.endpoints", []any{"a:1"})
	if !m.Has("spec.target.endpoints") || m.Has("spec.target.tls") {
		t.Errorf("wanted the endpoints and no more, got %v", m.Object.Object)
	}
	for path, want := range map[string]string{
		"spec.target.endpoints": "--endpoints", "spec.target.endpoints[0]": "--endpoints",
		"spec.target.endpointsOf": "spec.target.endpointsOf", "spec.target": "spec.target",
	} {
		if got := m.problem(path, "is wrong"); got.Field != want || (got.Line == 0) != (want == "--endpoints") {
			t.Errorf("%s: wanted %s, and a line for fields of the file, got %+v", path, want, got)
		}
	}
	m.Drop("spec.target.endpoints")
	if m.Has("spec.target.endpoints") {
		t.Error("the dropped field is still there")
	}
}

func TestGenerateName(t *testing.T) {
	long := strings.Repeat("x", 45) + "-xxxxxx"
	for name, want := range map[string]string{"puts": "puts-", "": "", long: strings.Repeat("x", 45) + "-"} {
		m, err := Read("run.yaml", strings.NewReader(good))
		if err != nil {
			t.Fatal(err)
		}
		m.Object.SetName(name)
		m.GenerateName()
		if got := m.Object.GetGenerateName(); got != want || m.Object.GetName() != "" {
			t.Errorf("%s: wanted %q, got %q", name, want, got)
		}
	}
}
