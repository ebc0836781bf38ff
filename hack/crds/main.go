// Command crds removes the descriptions of Kubernetes' own types from CRDs. They are long, they stand in the documentation of
// pods, and a CRD must fit into an annotation of kubectl apply.
//
// Usage: go run ./hack/crds FILE…
package main

import (
	"fmt"
	"os"
	"slices"

	"sigs.k8s.io/yaml"
)

// foreign are the fields with such types, wherever they are.
var foreign = []string{"affinity", "tolerations", "topologySpreadConstraints"}

func main() {
	for _, file := range os.Args[1:] {
		if err := shorten(file); err != nil {
			fmt.Fprintln(os.Stderr, file+":", err)
			os.Exit(1)
		}
	}
}

func shorten(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var crd map[string]any
	if err := yaml.Unmarshal(data, &crd); err != nil {
		return err
	}
	walk(crd, false)
	if data, err = yaml.Marshal(crd); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

// walk removes descriptions below foreign fields, not those of the fields themselves.
func walk(node any, inside bool) {
	switch n := node.(type) {
	case []any:
		for _, child := range n {
			walk(child, inside)
		}
	case map[string]any:
		for key, child := range n {
			if _, isText := child.(string); inside && key == "description" && isText {
				delete(n, key)
			}
			if schema, ok := child.(map[string]any); ok && !inside && slices.Contains(foreign, key) {
				for _, below := range []string{"properties", "items"} {
					walk(schema[below], true)
				}
				continue
			}
			walk(child, inside)
		}
	}
}
