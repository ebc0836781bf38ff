package manifest

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Problem is one thing that keeps a manifest from being run.
type Problem struct {
	// Line in the file, from 1; 0 where it is not known.
	Line int
	// Field is the path of the field, for example spec.load.pods, or the flag
	// that set it; empty where the problem lies in no field.
	Field   string
	Message string
}

// Error implements error.
func (p *Problem) Error() string {
	text := p.Message
	if p.Field != "" {
		text = p.Field + ": " + text
	}
	if p.Line > 0 {
		text = fmt.Sprintf("line %d: %s", p.Line, text)
	}
	return text
}

// Error is everything that keeps a manifest from being run.
type Error struct {
	File     string
	Problems []Problem
}

// Error implements error: one line per problem.
func (e *Error) Error() string {
	lines := []string{e.File + ": this manifest cannot be run:"}
	for _, p := range e.Problems {
		lines = append(lines, "  "+p.Error())
	}
	return strings.Join(lines, "\n")
}

var strictComplaint = regexp.MustCompile(`(unknown|duplicate) field "([^"]+)"`)

// Explain turns an API server's refusal of the object into an Error with lines
// of the file. Any other error is returned as it is.
func (m *Manifest) Explain(err error) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return err
	}
	s := status.Status()
	switch {
	case s.Reason == metav1.StatusReasonInvalid && s.Details != nil && len(s.Details.Causes) > 0:
		return &Error{File: m.File, Problems: m.causes(s.Details.Causes)}
	case s.Reason == metav1.StatusReasonBadRequest && strictComplaint.MatchString(s.Message):
		return &Error{File: m.File, Problems: m.complaints(s.Message)}
	case s.Reason == metav1.StatusReasonBadRequest && mistypedMetadata.MatchString(s.Message):
		return &Error{File: m.File, Problems: []Problem{m.metadataProblem(s.Message)}}
	}
	return err
}

// Refuse returns an Error about one field.
func (m *Manifest) Refuse(field, message string) error {
	return &Error{File: m.File, Problems: []Problem{m.problem(field, message)}}
}

// repetition is what an API server adds, without a field, to what it has said of
// a field.
var repetition = regexp.MustCompile(`Checked value must be of type|some validation rules were not checked`)

func (m *Manifest) causes(causes []metav1.StatusCause) []Problem {
	var out []Problem
	for _, c := range causes {
		if len(causes) > 1 && repetition.MatchString(c.Message) {
			continue
		}
		field := strings.TrimPrefix(c.Field, "<nil>")
		out = append(out, m.problem(field, m.withValue(field, c.Message)))
	}
	return out
}

// mistyped is how an API server refuses a value of another type: it tells the name
// of that type, and not the value.
var mistyped = regexp.MustCompile(`must be of type (\w+): "\w+"$`)

// mistypedMetadata is the same of metadata, which it reads in another way.
var mistypedMetadata = regexp.MustCompile(`cannot unmarshal \w+ into Go struct field ObjectMeta\.(?:metadata\.)?(\S+) of type (\S+)`)

func (m *Manifest) metadataProblem(message string) Problem {
	match := mistypedMetadata.FindStringSubmatch(message)
	field, wanted := "metadata."+match[1], match[2]
	switch {
	case strings.HasPrefix(wanted, "map["):
		wanted = "object"
	case strings.HasPrefix(wanted, "[]"):
		wanted = "array"
	}
	_, found := m.locate(field)
	if found != nil && found.Kind == yamlnode.MappingNode && wanted == "string" {
		// Of labels and annotations it names the whole, and not the one.
		field, found = mistypedValue(field, found)
	}
	if found == nil {
		return m.problem(field, "wanted "+wanted)
	}
	return m.problem(field, fmt.Sprintf("wanted %s, found %s", wanted, written(found)))
}

// mistypedValue returns the first of a field's fields that holds no text, else the
// field itself.
func mistypedValue(field string, value *yamlnode.Node) (string, *yamlnode.Node) {
	for i := 0; i+1 < len(value.Content); i += 2 {
		if key, v := value.Content[i], value.Content[i+1]; v.Tag != "!!str" {
			return field + "." + key.Value, v
		}
	}
	return field, value
}

// withValue names what the file has in a field that wants another type.
func (m *Manifest) withValue(field, message string) string {
	wanted := mistyped.FindStringSubmatch(message)
	_, found := m.locate(field)
	if wanted == nil || found == nil || m.setBy(field) != "" {
		return message
	}
	return fmt.Sprintf("wanted %s, found %s", wanted[1], written(found))
}

// maxWritten bounds how much of a value a message repeats, in characters.
const maxWritten = 60

func written(value *yamlnode.Node) string {
	switch {
	case value.Kind == yamlnode.MappingNode:
		return "fields"
	case value.Kind == yamlnode.SequenceNode:
		return "a list"
	case value.Kind == yamlnode.AliasNode:
		return written(value.Alias)
	case value.Tag == "!!null":
		return "nothing"
	case value.Tag != "!!str":
		return shortened(value.Value)
	}
	return strconv.Quote(shortened(value.Value))
}

func shortened(text string) string {
	if runes := []rune(text); len(runes) > maxWritten {
		return string(runes[:maxWritten]) + "…"
	}
	return text
}

func (m *Manifest) complaints(message string) []Problem {
	var out []Problem
	for _, match := range strictComplaint.FindAllStringSubmatch(message, -1) {
		out = append(out, m.problem(match[2], match[1]+" field"))
	}
	return out
}

// problem gives a line to what lies in a field.
func (m *Manifest) problem(field, message string) Problem {
	if field == "" {
		return Problem{Message: message}
	}
	if flag := m.setBy(field); flag != "" {
		return Problem{Field: flag, Message: message}
	}
	return Problem{Line: m.line(field), Field: field, Message: message}
}
