package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

// schemas are the schemas of all kinds, as an editor reads them.
func schemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	r := release{root: filepath.Join("..", ".."), output: t.TempDir()}
	if err := r.writeSchemas(); err != nil {
		t.Fatal(err)
	}
	out := map[string]*jsonschema.Schema{}
	for _, kind := range []string{"EtcdBenchmark", "EtcdBenchmarkSuite", "EtcdBenchmarkSchedule"} {
		schema, err := jsonschema.NewCompiler().Compile(r.path(schemaName(kind)))
		if err != nil {
			t.Fatal(err)
		}
		out[kind] = schema
	}
	return out
}

func checkManifest(t *testing.T, all map[string]*jsonschema.Schema, manifest []byte) error {
	t.Helper()
	data, err := yaml.YAMLToJSON(manifest)
	if err != nil {
		t.Fatal(err)
	}
	object, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	kind, _ := object.(map[string]any)["kind"].(string)
	if all[kind] == nil {
		t.Skipf("no kind of ours: %s", kind)
	}
	return all[kind].Validate(object)
}

func TestEachSampleFitsItsSchema(t *testing.T) {
	all, checked := schemas(t), 0
	err := filepath.WalkDir(filepath.Join("..", "..", "config", "samples"), func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := checkManifest(t, all, content); err != nil {
				t.Error(err)
			}
			checked++
		})
		return nil
	})
	if err != nil || checked < 20 {
		t.Errorf("checked %d samples: %v", checked, err)
	}
}

func TestASchemaRefusesMistakes(t *testing.T) {
	const good = `
apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmark
metadata: {name: a}
spec:
  target: {endpoints: ["a:1"]}
  workload: {type: Put, put: {keys: {count: 10}}}
  load: {requests: 10, clients: 2}
`
	all := schemas(t)
	if err := checkManifest(t, all, []byte(good)); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"an unknown field":           {"clients", "cleints"},
		"a word for a number":        {"count: 10", "count: many"},
		"a value that is not listed": {"type: Put", "type: Push"},
		"a number that is too small": {"clients: 2", "clients: 0"},
		"another kind of version":    {"v1alpha1", "v1"},
		"a status":                   {"spec:", "status: {}\nspec:"},
	} {
		if err := checkManifest(t, all, []byte(strings.Replace(good, change[0], change[1], 1))); err == nil {
			t.Errorf("%s: wanted a refusal", name)
		}
	}
}
