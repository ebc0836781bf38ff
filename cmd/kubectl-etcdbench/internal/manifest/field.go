package manifest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// runSpec is the schema of the spec of a run.
var runSpec = sync.OnceValue(func() apiextensionsv1.JSONSchemaProps { return objectSchema(Kind).Properties["spec"] })

// fieldOf returns the schema of a field of a run's spec, for example load.rate.perSecond. Entries of lists have the path
// of the list.
func fieldOf(path string) (apiextensionsv1.JSONSchemaProps, bool) {
	object := runSpec()
	for step := range strings.SplitSeq(path, ".") {
		if object.Items != nil && object.Items.Schema != nil {
			object = *object.Items.Schema
		}
		next, known := object.Properties[step]
		if entries := object.AdditionalProperties; !known && entries != nil && entries.Schema != nil {
			next, known = *entries.Schema, true
		}
		if !known {
			return object, false
		}
		object = next
	}
	return object, true
}

// IsField reports whether the spec of a run has a field with this path, for example load.rate.perSecond.
func IsField(path string) bool {
	_, known := fieldOf(path)
	return known
}

// IsValue reports whether a word can be the value of such a field: one of its names, a number or a truth.
func IsValue(path, word string) bool {
	field, _ := fieldOf(path)
	_, notNumber := strconv.Atoi(word)
	switch field.Type {
	case "integer":
		return notNumber == nil
	case "boolean":
		return word == "true" || word == "false"
	}
	return slices.ContainsFunc(field.Enum, func(v apiextensionsv1.JSON) bool { return string(v.Raw) == fmt.Sprintf("%q", word) })
}
