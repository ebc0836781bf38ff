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

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
)

// Schema is the schema of a kind, ready to admit objects. It is safe for concurrent use.
type Schema[Object any] struct {
	kind       string
	structural *schema.Structural
	validator  validation.SchemaValidator
	rules      *cel.Validator
}

// Runs returns the schema of EtcdBenchmark that this binary carries. The first call compiles it.
var Runs = carried[v1alpha1.EtcdBenchmark](manifest.Kind)

// Suites returns the schema of EtcdBenchmarkSuite that this binary carries. The first call compiles it.
var Suites = carried[v1alpha1.EtcdBenchmarkSuite](manifest.SuiteKind)

func carried[Object any](kind string) func() (*Schema[Object], error) {
	return sync.OnceValues(func() (*Schema[Object], error) {
		definition, err := manifest.Schema(kind)
		if err != nil {
			return nil, fmt.Errorf("reading the schema of %s: %w", kind, err)
		}
		return newSchema[Object](kind, definition)
	})
}

func newSchema[Object any](kind string, definition *apiextensionsv1.JSONSchemaProps) (*Schema[Object], error) {
	props := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(definition, props, nil); err != nil {
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
