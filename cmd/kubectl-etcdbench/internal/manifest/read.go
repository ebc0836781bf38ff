package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	yamlnode "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// MaxBytes bounds a manifest; etcd, behind the API server, takes no more either.
const MaxBytes = 1 << 20

// Kind is the kind that a manifest must have.
const Kind = "EtcdBenchmark"

// Manifest is one EtcdBenchmark as a person wrote it.
type Manifest struct {
	// File is what messages call the manifest: its path or "standard input".
	File string
	// Object has every field of the file, save those that Set or Drop
	// changed, and no defaults.
	Object *unstructured.Unstructured

	root *yamlnode.Node
	// flags are by whom fields were set, by the fields' paths.
	flags map[string]string
}

// Read reads the one EtcdBenchmark that in must hold, as YAML or JSON. Fields
// that the kind does not have are not looked for here: whoever admits the
// object knows its schema.
func Read(file string, in io.Reader) (*Manifest, error) {
	data, err := io.ReadAll(io.LimitReader(in, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: reading the manifest: %w", file, err)
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%s: wanted a manifest of at most %d bytes, found more", file, MaxBytes)
	}
	root, err := onlyDocument(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	m := &Manifest{File: file, root: root, flags: map[string]string{}}
	if m.Object, err = decode(root); err != nil {
		return nil, m.inFile(err)
	}
	if problems := m.kindProblems(); len(problems) > 0 {
		return nil, &Error{File: file, Problems: problems}
	}
	return m, nil
}

// onlyDocument returns the only YAML document that is not empty.
func onlyDocument(data []byte) (*yamlnode.Node, error) {
	var found *yamlnode.Node
	decoder := yamlnode.NewDecoder(bytes.NewReader(data))
	for {
		var document yamlnode.Node
		err := decoder.Decode(&document)
		switch {
		case errors.Is(err, io.EOF) && found == nil:
			return nil, fmt.Errorf("wanted one %s, found an empty file", Kind)
		case errors.Is(err, io.EOF):
			return found, nil
		case err != nil:
			return nil, err
		case isEmpty(&document):
			continue
		case found != nil:
			return nil, fmt.Errorf("wanted one %s, found a second document in line %d: put it into a file of its own",
				Kind, document.Content[0].Line)
		}
		found = &document
	}
}

func isEmpty(document *yamlnode.Node) bool {
	return len(document.Content) == 0 || document.Content[0].Tag == "!!null"
}

// decode reads the document as an API server's clients do; the document is
// written out anew since the file may have empty ones beside it.
func decode(document *yamlnode.Node) (*unstructured.Unstructured, error) {
	top := document.Content[0]
	if top.Kind != yamlnode.MappingNode {
		return nil, &Problem{Line: top.Line, Message: "wanted fields with values (apiVersion, kind, …), found something else"}
	}
	if twice := duplicate(top); twice != nil {
		return nil, &Problem{Line: twice.Line, Message: fmt.Sprintf("field %q is written twice", twice.Value)}
	}
	data, err := yamlnode.Marshal(document)
	if err != nil {
		return nil, err
	}
	asJSON, err := yaml.YAMLToJSON(data)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	return u, u.UnmarshalJSON(asJSON)
}

// duplicate returns the second of two equal keys of one mapping, if there is one.
func duplicate(node *yamlnode.Node) *yamlnode.Node {
	seen := map[string]bool{}
	for i, c := range node.Content {
		if node.Kind == yamlnode.MappingNode && i%2 == 0 {
			if seen[c.Value] {
				return c
			}
			seen[c.Value] = true
		}
		if twice := duplicate(c); twice != nil {
			return twice
		}
	}
	return nil
}

func (m *Manifest) inFile(err error) error {
	var p *Problem
	switch {
	case errors.As(err, &p):
		return &Error{File: m.File, Problems: []Problem{*p}}
	case runtime.IsMissingKind(err):
		return &Error{File: m.File, Problems: []Problem{m.problem("kind", fmt.Sprintf("wanted %s, found none", Kind))}}
	}
	return fmt.Errorf("%s: %w", m.File, err)
}

// kindProblems answers for other kinds before an API server does, which would
// speak of resources that it does not know.
func (m *Manifest) kindProblems() []Problem {
	var problems []Problem
	if got := m.Object.GetKind(); got != Kind {
		problems = append(problems, m.problem("kind", fmt.Sprintf("wanted %s, found %q", Kind, got)))
	}
	want := v1alpha1.GroupVersion.String()
	if got := m.Object.GetAPIVersion(); got != want {
		problems = append(problems, m.problem("apiVersion", fmt.Sprintf("wanted %s, found %q", want, got)))
	}
	return problems
}
