package install

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// root of the checkout, from this package.
const root = "../../.."

// object is a rendered manifest.
type object = unstructured.Unstructured

// renderChart renders the chart as `helm install` into etcdbench-system would.
func renderChart(t *testing.T, values ...string) []object {
	t.Helper()
	manifests, err := helmTemplate(t, values...)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, manifests)
}

func helmTemplate(t *testing.T, values ...string) (string, error) {
	t.Helper()
	args := []string{"template", "any-release-name", root + "/charts/etcd-benchmark-operator", "--namespace=etcdbench-system"}
	for _, value := range values {
		args = append(args, "--set="+value)
	}
	return runTool(t, "helm", args...)
}

// renderKustomize renders what `kubectl apply -k config/default` would apply.
func renderKustomize(t *testing.T) []object {
	t.Helper()
	manifests, err := runTool(t, "kustomize", "build", root+"/config/default")
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, manifests)
}

func runTool(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(root, "bin", "tools", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: `go run ./hack/tools %s` builds it", err, name)
	}
	output, err := exec.CommandContext(t.Context(), path, args...).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%s: %w\n%s", name, err, exit.Stderr)
	}
	return string(output), err
}

// decode reads the documents of a YAML stream.
func decode(t *testing.T, manifests string) []object {
	t.Helper()
	var objects []object
	for decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifests), 4096); ; {
		var o object
		if err := decoder.Decode(&o.Object); errors.Is(err, io.EOF) {
			return objects
		} else if err != nil {
			t.Fatal(err)
		}
		if len(o.Object) > 0 {
			objects = append(objects, o)
		}
	}
}

// filesOf returns the files that match a pattern; both are below root.
func filesOf(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := fs.Glob(os.DirFS(root), pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d files %s: %v", len(files), pattern, err)
	}
	return files
}

func readObjects(t *testing.T, path string) []object {
	t.Helper()
	return decode(t, readText(t, path))
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// only returns the one object of a kind with this namespace and name.
func only(t *testing.T, objects []object, kind, namespace, name string) object {
	t.Helper()
	for _, o := range objects {
		if o.GetKind() == kind && o.GetNamespace() == namespace && o.GetName() == name {
			return o
		}
	}
	t.Fatalf("no %s %s/%s is rendered", kind, namespace, name)
	return object{}
}

func ofKind(objects []object, kind string) []object {
	var found []object
	for _, o := range objects {
		if o.GetKind() == kind {
			found = append(found, o)
		}
	}
	return found
}
