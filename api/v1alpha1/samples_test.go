package v1alpha1_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestSamplesAreAccepted(t *testing.T) {
	folder := filepath.Join("..", "..", "config", "samples")
	files, err := filepath.Glob(filepath.Join(folder, "etcdbenchmark_*.yaml"))
	special, errSpecial := filepath.Glob(filepath.Join(folder, "*", "etcdbenchmark_*.yaml"))
	files = append(files, special...)
	if err := errors.Join(err, errSpecial); err != nil || len(special) == 0 {
		t.Fatalf("wanted samples, found %d: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			o := &unstructured.Unstructured{}
			if err := yaml.UnmarshalStrict(data, &o.Object); err != nil {
				t.Fatal(err)
			}
			o.SetNamespace("default")
			if err := create(t, o); err != nil {
				t.Error(err)
			}
		})
	}
}
