package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// MaxBytes bounds a manifest. The etcd behind the API server accepts no more either.
const MaxBytes = 1 << 20

// The kinds that a manifest can have.
const (
	Kind      = "EtcdBenchmark"
	SuiteKind = "EtcdBenchmarkSuite"
)

// Manifest is one EtcdBenchmark or one EtcdBenchmarkSuite, as the file has it.
type Manifest struct {
	// File is the name of the manifest in messages: its path or "standard input".
	File string
	// Object has every field of the file, except those that Set or Drop changed. It has no defaults.
	Object *unstructured.Unstructured

	root *yamlnode.Node
	// from is the manifest of which this one was made, and origin maps the path of a field to its path there. Both are nil
	// for a file.
	from   *Manifest
	origin func(field string) string
	// flags maps the path of a field to the flag that set it.
	flags map[string]string
}

// Read reads one EtcdBenchmark or EtcdBenchmarkSuite as YAML or JSON. It does not look for unknown fields: admission knows the schema.
func Read(file string, in io.Reader) (*Manifest, error) {
	data, err := io.ReadAll(io.LimitReader(in, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: reading the manifest: %w", file, err)
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%s: found more than %d bytes, wanted a manifest of at most that size", file, MaxBytes)
	}
	m := &Manifest{File: file, flags: map[string]string{}}
	if m.root, err = onlyDocument(data); err != nil {
		return nil, m.named(err)
	}
	if m.Object, err = decode(m.root); err != nil {
		return nil, m.named(err)
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
			return nil, fmt.Errorf("found an empty file, wanted one %s", Kind)
		case errors.Is(err, io.EOF):
			return found, nil
		case err != nil:
			return nil, namingTabs(err, data)
		case isEmpty(&document):
			continue
		case found != nil:
			return nil, fmt.Errorf("wanted one %s, found a second document in line %d: put each %s into a file of its own and run the files one after the other",
				Kind, document.Content[0].Line, Kind)
		}
		found = &document
	}
}

func isEmpty(document *yamlnode.Node) bool {
	return len(document.Content) == 0 || document.Content[0].Tag == "!!null"
}

// indentedByTab matches a line with a tab in its indentation, tabComplaint the parser's errors about one. These may name
// an earlier line.
var (
	indentedByTab = regexp.MustCompile(`^ *\t\s*\S`)
	tabComplaint  = regexp.MustCompile(`line (\d+): found (?:a tab character|character that cannot start any token)`)
)

// namingTabs returns an error that names the tab if one can be the cause of a syntax error.
func namingTabs(err error, data []byte) error {
	complaint := tabComplaint.FindStringSubmatch(err.Error())
	if complaint == nil {
		return err
	}
	first, _ := strconv.Atoi(complaint[1])
	lines := strings.Split(string(data), "\n")
	for i := first - 1; i < len(lines); i++ {
		if indentedByTab.MatchString(lines[i]) {
			return &Problem{Line: i + 1, Message: "found a tab, and YAML does not allow tabs for indentation: use spaces"}
		}
	}
	return err
}

// decode reads the document as clients of an API server do. It marshals the document first, because the file can have
// empty documents beside it.
func decode(document *yamlnode.Node) (*unstructured.Unstructured, error) {
	top := document.Content[0]
	if top.Kind != yamlnode.MappingNode {
		return nil, &Problem{Line: top.Line, Message: "wanted an object with the fields apiVersion, kind, metadata and spec, found a list or a single value"}
	}
	if twice := duplicate(top); twice != nil {
		return nil, &Problem{Line: twice.Line, Message: fmt.Sprintf("field %q is written twice: remove one", twice.Value)}
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

// duplicate returns the second of two equal keys of one mapping, or nil.
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

func (m *Manifest) named(err error) error {
	var p *Problem
	switch {
	case errors.As(err, &p):
		return &Error{File: m.File, Problems: []Problem{*p}}
	case runtime.IsMissingKind(err):
		return &Error{File: m.File, Problems: []Problem{m.problem("kind", fmt.Sprintf("wanted %s, found none", Kind))}}
	}
	return fmt.Errorf("%s: %w", m.File, err)
}

// kindProblems refuses other kinds. The API server's own error for them speaks of unknown resources.
func (m *Manifest) kindProblems() []Problem {
	var problems []Problem
	if got := m.Object.GetKind(); got != Kind && got != SuiteKind {
		problems = append(problems, m.problem("kind", fmt.Sprintf("wanted %s or %s, found %q", Kind, SuiteKind, got)))
	}
	want := v1alpha1.GroupVersion.String()
	if got := m.Object.GetAPIVersion(); got != want {
		problems = append(problems, m.problem("apiVersion", fmt.Sprintf("wanted %s, found %q", want, got)))
	}
	return problems
}
