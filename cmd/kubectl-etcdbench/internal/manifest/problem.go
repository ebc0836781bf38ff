package manifest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Problem is one reason why a manifest cannot be run.
type Problem struct {
	// Line in the file, from 1; 0 if it is unknown.
	Line int
	// Field is the path of the field, for example spec.load.pods, or the flag that set it. It is empty if the problem
	// is not in a field.
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

// Error has all reasons why a manifest cannot be run.
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

// strictComplaint is the wording of strict field validation.
var strictComplaint = regexp.MustCompile(`(unknown|duplicate) field "([^"]+)"`)

// Explain turns an API server's refusal of the object into an Error with lines of the file. It returns any other error
// unchanged.
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

// repetition matches causes that repeat, without a field, what another cause says of a field.
var repetition = regexp.MustCompile(`Checked value must be of type|some validation rules were not checked`)

func (m *Manifest) causes(causes []metav1.StatusCause) []Problem {
	isRepeated := func(c metav1.StatusCause) bool { return repetition.MatchString(c.Message) }
	if others := slices.DeleteFunc(slices.Clone(causes), isRepeated); len(others) > 0 {
		causes = others
	}
	var out []Problem
	for _, c := range causes {
		field := strings.TrimPrefix(c.Field, "<nil>")
		// A part of the file that is in several entries of a made suite has the same problem in each.
		if p := m.problem(field, m.withValue(field, c.Message)); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// mistyped is an API server's refusal of a value of the wrong type. It has the name of the type, not the value.
var mistyped = regexp.MustCompile(`must be of type (\w+): "\w+"$`)

// mistypedMetadata is the same refusal for metadata, which an API server decodes separately.
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
		// For labels and annotations the API server names the map, not the entry.
		field, found = mistypedValue(field, found)
	}
	if found == nil {
		return m.problem(field, "wanted "+wanted)
	}
	return m.problem(field, fmt.Sprintf("wanted %s, found %s", wanted, written(found)))
}

// mistypedValue returns the first entry of a map that is not a string, else the map itself.
func mistypedValue(field string, value *yamlnode.Node) (string, *yamlnode.Node) {
	for i := 0; i+1 < len(value.Content); i += 2 {
		if key, v := value.Content[i], value.Content[i+1]; v.Tag != "!!str" {
			return field + "." + key.Value, v
		}
	}
	return field, value
}

// withValue adds the file's value to the refusal of a value of the wrong type.
func (m *Manifest) withValue(field, message string) string {
	wanted := mistyped.FindStringSubmatch(message)
	_, found := m.locate(field)
	if wanted == nil || found == nil || m.setBy(field) != "" {
		return message
	}
	return fmt.Sprintf("wanted %s, found %s", wanted[1], written(found))
}

// maxWritten bounds the part of a value that a message repeats, in characters.
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
		text := match[1] + " field"
		if match[1] == "unknown" {
			text += knownInstead(m.Object.GetKind(), match[2])
		}
		out = append(out, m.problem(match[2], text))
	}
	return out
}

// problem returns a Problem with the field's line, or with the flag that set the field.
func (m *Manifest) problem(field, message string) Problem {
	if field == "" {
		return Problem{Message: message}
	}
	if flag := m.setBy(field); flag != "" {
		return Problem{Field: flag, Message: message}
	}
	return Problem{Line: m.line(field), Field: m.inFile(field), Message: message}
}
