package manifest

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

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
		out = append(out, m.problem(strings.TrimPrefix(c.Field, "<nil>"), c.Message))
	}
	return out
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
