package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// writeSchemas writes a JSON Schema of each kind, with which an editor completes and checks manifests.
func (r release) writeSchemas() error {
	definitions, err := filepath.Glob(filepath.Join(r.root, "config", "crd", "bases", "*.yaml"))
	if err != nil {
		return err
	}
	for _, path := range definitions {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		kind, schema, err := schemaOf(content)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if err := os.WriteFile(r.path(schemaName(kind)), schema, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func schemaName(kind string) string { return strings.ToLower(kind) + ".schema.json" }

// schemaOf returns the schema of what a user writes: without status, and with unknown fields refused, as the API server
// does for kubectl.
func schemaOf(definition []byte) (kind string, schema []byte, err error) {
	var d apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(definition, &d); err != nil {
		return "", nil, err
	}
	if len(d.Spec.Versions) != 1 {
		return "", nil, fmt.Errorf("wanted one version, found %d", len(d.Spec.Versions))
	}
	kind = d.Spec.Names.Kind
	served, err := json.Marshal(d.Spec.Versions[0].Schema.OpenAPIV3Schema)
	if err != nil {
		return "", nil, err
	}
	object := map[string]any{}
	if err := json.Unmarshal(served, &object); err != nil {
		return "", nil, err
	}
	closeSchema(object)
	fields := object["properties"].(map[string]any)
	delete(fields, "status")
	words := map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}}
	word := map[string]any{"type": "string"}
	maps.Copy(fields, map[string]any{
		"apiVersion": map[string]any{"const": d.Spec.Group + "/" + d.Spec.Versions[0].Name},
		"kind":       map[string]any{"const": kind},
		"metadata": map[string]any{"type": "object", "properties": map[string]any{
			"name": word, "generateName": word, "namespace": word, "labels": words, "annotations": words,
		}},
	})
	maps.Copy(object, map[string]any{
		"$schema": "http://json-schema.org/draft-07/schema#", "title": kind, "required": []string{"apiVersion", "kind", "metadata", "spec"},
	})
	schema, err = json.MarshalIndent(object, "", " ")
	return kind, append(schema, '\n'), err
}

// closeSchema refuses unknown fields in a schema and all below it, and removes what JSON Schema does not know.
func closeSchema(schema map[string]any) {
	if schema["x-kubernetes-int-or-string"] == true {
		schema["type"] = []string{"integer", "string"}
		delete(schema, "anyOf")
	}
	maps.DeleteFunc(schema, func(key string, _ any) bool { return strings.HasPrefix(key, "x-kubernetes-") || key == "nullable" })
	if fields, is := schema["properties"].(map[string]any); is {
		schema["additionalProperties"] = false
		for _, field := range fields {
			closeSchema(field.(map[string]any))
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if below, is := schema[key].(map[string]any); is {
			closeSchema(below)
		}
	}
}
