package manifest

import (
	"strconv"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"
)

// line returns the line of the field with this path. For a field that the file lacks, it is the line of the deepest
// parent in the file.
func (m *Manifest) line(field string) int {
	line, _ := m.locate(field)
	return line
}

// locate returns the line of a field, as line does, and its value, or nil if the file lacks the field.
func (m *Manifest) locate(field string) (line int, value *yamlnode.Node) {
	value = m.root.Content[0]
	line = value.Line
	for _, step := range steps(m.inFile(field)) {
		key, next := child(value, step)
		if next == nil {
			return line, nil
		}
		value, line = next, key.Line
	}
	return line, value
}

// inFile is the path in the file of a field of the object.
func (m *Manifest) inFile(field string) string {
	if m.from == nil {
		return field
	}
	return m.from.inFile(m.origin(field))
}

// steps splits spec.objectives[0].name into spec, objectives, 0 and name.
func steps(field string) []string {
	return strings.FieldsFunc(field, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

// child returns the node that carries the line of a step and the node below it.
func child(parent *yamlnode.Node, step string) (key, value *yamlnode.Node) {
	if parent.Kind == yamlnode.AliasNode {
		parent = parent.Alias
	}
	switch parent.Kind {
	case yamlnode.MappingNode:
		for i := 0; i+1 < len(parent.Content); i += 2 {
			if parent.Content[i].Value == step {
				return parent.Content[i], parent.Content[i+1]
			}
		}
	case yamlnode.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(parent.Content) {
			return parent.Content[i], parent.Content[i]
		}
	}
	return nil, nil
}
