package admission

import (
	"fmt"
	"runtime/debug"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
)

// Schema is the schema of a kind, ready to admit objects. It is safe for concurrent use.
type Schema[Object any] struct {
	kind       string
	structural *schema.Structural
	validator  validation.SchemaValidator
	rules      *rules
}

// Runs returns the schema of EtcdBenchmark that this binary carries. The first call compiles it.
func Runs() (*Schema[v1alpha1.EtcdBenchmark], error) { return runs.schema(manifest.Kind) }

// Suites returns the schema of EtcdBenchmarkSuite that this binary carries. The first call compiles it.
func Suites() (*Schema[v1alpha1.EtcdBenchmarkSuite], error) { return suites.schema(manifest.SuiteKind) }

// Forget returns the memory of the compiled schemas to the machine: a load generator has no use for them. The next call
// compiles again.
func Forget() {
	runs.forget()
	suites.forget()
	debug.FreeOSMemory()
}

var (
	runs   kept[v1alpha1.EtcdBenchmark]
	suites kept[v1alpha1.EtcdBenchmarkSuite]
)

// kept is a schema until it is forgotten.
type kept[Object any] struct {
	mu     sync.Mutex
	object *Schema[Object]
}

func (k *kept[Object]) schema(kind string) (s *Schema[Object], err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.object != nil {
		return k.object, nil
	}
	definition, err := manifest.Schema(kind)
	if err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", kind, err)
	}
	k.object, err = newSchema[Object](kind, definition)
	return k.object, err
}

func (k *kept[Object]) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.object = nil
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
		rules:      &rules{structural: structural, wanted: map[string]bool{}},
	}, nil
}
