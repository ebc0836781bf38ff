package admission

import (
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// rules compiles the CEL rules of a schema as objects need them: those of a field that no object had yet are left out,
// because they are never evaluated. All rules of a kind take 10 MB.
type rules struct {
	structural *schema.Structural

	mu sync.Mutex
	// wanted has the path of each field with rules that an object had.
	wanted   map[string]bool
	compiled *cel.Validator
}

// of returns a validator with all rules that apply to an object.
func (r *rules) of(object map[string]any) *cel.Validator {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.wanted)
	r.want(r.structural, object, nil)
	if r.compiled == nil || len(r.wanted) > before {
		s := r.structural.DeepCopy()
		r.strip(s, nil)
		r.compiled = cel.NewValidator(s, true, celconfig.PerCallLimit)
	}
	return r.compiled
}

func (r *rules) want(s *schema.Structural, value any, path []string) {
	if len(s.XValidations) > 0 {
		r.wanted[key(path)] = true
	}
	switch v := value.(type) {
	case map[string]any:
		for name, child := range v {
			if field, ok := s.Properties[name]; ok {
				r.want(&field, child, append(path, name))
			} else if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
				r.want(s.AdditionalProperties.Structural, child, append(path, anyKey))
			}
		}
	case []any:
		for _, child := range v {
			r.want(s.Items, child, append(path, anyKey))
		}
	}
}

// strip removes the rules that no object needs.
func (r *rules) strip(s *schema.Structural, path []string) {
	if !r.wanted[key(path)] {
		s.XValidations = nil
	}
	for name, field := range s.Properties {
		r.strip(&field, append(path, name))
		s.Properties[name] = field
	}
	if s.Items != nil {
		r.strip(s.Items, append(path, anyKey))
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		r.strip(s.AdditionalProperties.Structural, append(path, anyKey))
	}
}

// anyKey stands for each element of a list, and each key of a map.
const anyKey = "*"

func key(path []string) string { return strings.Join(path, ".") }
