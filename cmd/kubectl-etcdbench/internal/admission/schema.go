package admission

import (
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/config/crd"
)

// Schema is the schema of a kind, ready to admit objects. It is safe for concurrent use.
type Schema[Object any] struct {
	kind       string
	structural *schema.Structural
	validator  validation.SchemaValidator
	rules      *cel.Validator
}

// Runs returns the schema of EtcdBenchmark that this binary carries. The first call compiles it.
var Runs = sync.OnceValues(func() (*Schema[v1alpha1.EtcdBenchmark], error) {
	return newSchema[v1alpha1.EtcdBenchmark]("EtcdBenchmark", crd.EtcdBenchmarks)
})

// Suites returns the schema of EtcdBenchmarkSuite that this binary carries. The first call compiles it.
var Suites = sync.OnceValues(func() (*Schema[v1alpha1.EtcdBenchmarkSuite], error) {
	return newSchema[v1alpha1.EtcdBenchmarkSuite]("EtcdBenchmarkSuite", crd.EtcdBenchmarkSuites)
})

func newSchema[Object any](kind string, definition []byte) (*Schema[Object], error) {
	props, err := openAPISchema(definition)
	if err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", kind, err)
	}
	structural, err := schema.NewStructural(props)
	if err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", kind, err)
	}
	if err := defaulting.PruneDefaults(structural); err != nil {
		return nil, fmt.Errorf("reading the defaults of %s: %w", kind, err)
	}
	validator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		return nil, fmt.Errorf("compiling the schema of %s: %w", kind, err)
	}
	return &Schema[Object]{
		kind:       kind,
		structural: structural,
		validator:  validator,
		rules:      cel.NewValidator(structural, true, celconfig.PerCallLimit),
	}, nil
}

// openAPISchema returns the schema in the internal form of the API server's libraries.
func openAPISchema(data []byte) (*apiextensions.JSONSchemaProps, error) {
	definition := apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(data, &definition); err != nil {
		return nil, err
	}
	for _, v := range definition.Spec.Versions {
		if v.Name == v1alpha1.GroupVersion.Version {
			out := &apiextensions.JSONSchemaProps{}
			return out, apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, out, nil)
		}
	}
	return nil, fmt.Errorf("wanted version %s in the CustomResourceDefinition, found none", v1alpha1.GroupVersion.Version)
}
