package gitops

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// publishedCRD is a CRD in the source code of a project. Go downloads it once; sum pins its content.
type publishedCRD struct{ module, sum, file string }

// Each sample is what an API server with the project's CRD accepts, without an unknown field.
func TestSamplesOfPipelines(t *testing.T) {
	tests := map[string]struct {
		crd publishedCRD
		// step is where the container is that runs the benchmark, and field a field that this step has.
		step  []string
		field string
	}{
		"argo-rollouts.yaml": {
			publishedCRD{"github.com/argoproj/argo-rollouts@v1.8.5", "h1:x+WjkwgjV89sc/QJ0c0cBrz5HAcriWCoQn6ptOxoElU=", "manifests/crds/analysis-template-crd.yaml"},
			[]string{"spec", "metrics", "0", "provider", "job", "spec", "template", "spec", "containers", "0"}, "volumeMounts",
		},
		"argo-workflows.yaml": {
			publishedCRD{"github.com/argoproj/argo-workflows/v3@v3.7.0", "h1:TDijZztm6dLruB7yZLH+Ps4OJKRwu0YSAJ4/NvceON0=", "manifests/base/crds/full/argoproj.io_workflowtemplates.yaml"},
			[]string{"spec", "templates", "0", "container"}, "volumeMounts",
		},
		"tekton.yaml": {
			publishedCRD{"github.com/tektoncd/pipeline@v1.6.0", "h1:A+D+jzOVl2QNl/yiNT7csVgBUy2wpz6K6+/D4q5lfss=", "config/300-crds/300-task.yaml"},
			[]string{"spec", "steps", "0"}, "workingDir",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sample := &unstructured.Unstructured{}
			data, err := os.ReadFile(root + "/config/gitops/" + name)
			if err == nil {
				err = yaml.UnmarshalStrict(data, &sample.Object)
			}
			if err != nil {
				t.Fatal(err)
			}
			crd := tc.crd.read(t)
			if problems := refused(t, crd, sample); len(problems) > 0 {
				t.Errorf("%s: %v", name, problems)
			}
			step := valueAt(sample.Object, tc.step)
			if args, _ := step["args"].([]any); len(args) == 0 || args[0] != "run" || !slices.Contains(args, any("--strict")) || step[tc.field] == nil {
				t.Errorf("%s: wanted a step that runs a benchmark and fails if it is in doubt, found %v", name, step)
			}
			step["imag"] = "misspelled"
			if problems := refused(t, crd, sample); len(problems) != 1 || !strings.HasSuffix(problems[0], "imag") {
				t.Errorf("%s: wanted only an unknown field to be refused, found %v", name, problems)
			}
		})
	}
}

func (c publishedCRD) read(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	// In a folder of its own, Go does not look at the requirements of this module.
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", c.module)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.Output()
	var module struct{ Dir, Sum, Error string }
	if jsonErr := json.Unmarshal(out, &module); err != nil || jsonErr != nil || module.Error != "" {
		t.Fatalf("downloading %s: %v, %v, %s", c.module, err, jsonErr, module.Error)
	}
	if module.Sum != c.sum {
		t.Fatalf("wanted the sum %s of %s, found %s", c.sum, c.module, module.Sum)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	data, err := os.ReadFile(filepath.Join(module.Dir, c.file))
	if err == nil {
		err = yaml.Unmarshal(data, crd)
	}
	if err != nil {
		t.Fatal(err)
	}
	return crd
}

// refused returns what an API server refuses of an object: unknown fields, and values that the schema does not allow.
func refused(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, o *unstructured.Unstructured) []string {
	t.Helper()
	i := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return crd.Spec.Group+"/"+v.Name == o.GetAPIVersion()
	})
	if i < 0 || crd.Spec.Names.Kind != o.GetKind() {
		t.Fatalf("the CRD %s has no %s of %s", crd.Name, o.GetKind(), o.GetAPIVersion())
	}
	props := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[i].Schema.OpenAPIV3Schema, props, nil); err != nil {
		t.Fatal(err)
	}
	structural, err := schema.NewStructural(props)
	if err != nil {
		t.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		t.Fatal(err)
	}
	problems := pruning.PruneWithOptions(o.DeepCopy().Object, structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	for _, err := range validation.ValidateCustomResource(nil, o.Object, validator) {
		problems = append(problems, err.Error())
	}
	return problems
}

// valueAt follows field names, and the index 0 in lists.
func valueAt(value any, path []string) map[string]any {
	for _, name := range path {
		if list, ok := value.([]any); ok {
			value = list[0]
			continue
		}
		value = value.(map[string]any)[name]
	}
	return value.(map[string]any)
}
