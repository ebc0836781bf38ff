package advice

import (
	"cmp"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
)

// Command is how the user of a command sets the fields of a run. The zero value is a command whose user has a manifest,
// and sets all fields there.
type Command struct {
	// Flags are the flags that set fields, by the field or by a longer phrase that names it.
	Flags map[string]Flag
	// Set: the flag --set sets every other field.
	Set bool
	// Fixed are the parts of a run that something else fixes, with what that is.
	Fixed map[string]string
}

// Flag is the name of a flag.
type Flag struct {
	Name string
	// Switch: the flag has no value.
	Switch bool
}

// mention is a field in a message: "set spec.target.unreachableMembers: Skip", "spec.load.clients to 30", "load.clients".
var mention = regexp.MustCompile(`(?:\b([Ss]et) )?\b([a-z][A-Za-z0-9]*(?:\.[a-z][A-Za-z0-9]*)+)(?:(?:: | to )([A-Za-z]+|[0-9]+)\b)?`)

// Text translates a message.
func (c Command) Text(message string) string {
	// What it translates has a dot, and this is called for each text of a status.
	if c.isEmpty() || !strings.Contains(message, ".") {
		return message
	}
	message = c.phrases(message)
	var out strings.Builder
	rest := 0
	for _, m := range mentions(message) {
		out.WriteString(message[rest:m.start] + c.translate(m))
		rest = m.end
	}
	return out.String() + message[rest:]
}

func (c Command) isEmpty() bool { return len(c.Flags) == 0 && !c.Set }

// found is a field in a message. verb is "set" or "Set" if the message asks the user to set it.
type found struct {
	verb, field, value string
	// text is the mention, from start to end in the message.
	text       string
	start, end int
}

// mentions returns the fields that a message names, except those that it names as --set FIELD, and except ends of longer
// paths, as in spec.loads[0].load.clients.
func mentions(message string) (all []found) {
	for _, at := range mention.FindAllStringSubmatchIndex(message, -1) {
		name := part(message, at[4:6])
		m := found{verb: part(message, at[2:4]), field: strings.TrimPrefix(name, "spec."), value: part(message, at[6:8]), start: at[0], end: at[1]}
		before := message[:at[4]]
		if !manifest.IsField(m.field) || strings.HasSuffix(before, "--set ") || strings.HasSuffix(before, ".") {
			continue
		}
		if !manifest.IsValue(m.field, m.value) {
			m.value, m.end = "", at[5]
		}
		m.text = message[m.start:m.end]
		all = append(all, m)
	}
	return all
}

func part(text string, at []int) string {
	if at[0] < 0 {
		return ""
	}
	return text[at[0]:at[1]]
}

// phrases replaces what is longer than a field, the longest first.
func (c Command) phrases(message string) string {
	var keys []string
	for key := range c.Flags {
		if strings.Contains(key, " ") {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b string) int { return len(b) - len(a) })
	for _, key := range keys {
		message = strings.ReplaceAll(message, key, c.Flags[key].Name)
	}
	return message
}

func (c Command) translate(m found) string {
	verb := map[string]string{"set": "add ", "Set": "Add ", "": ""}[m.verb]
	if flag, ok := c.Flags[m.field]; ok {
		if m.value != "" && !flag.Switch {
			return verb + flag.Name + " " + m.value
		}
		return verb + flag.Name
	}
	by := c.FixedBy(m.field)
	switch {
	case by != "":
		return m.text + " (which " + by + " fixes)"
	case !c.Set:
		return m.text
	case m.verb != "":
		return verb + "--set " + m.field + "=" + cmp.Or(m.value, "VALUE")
	case m.value != "":
		return "--set " + m.field + "=" + m.value
	}
	return "--set " + m.field
}

// FixedBy is what fixes a field; empty if nothing does.
func (c Command) FixedBy(field string) string {
	first, _, _ := strings.Cut(field, ".")
	return c.Fixed[first]
}

// Run returns a run whose status has translated texts.
func (c Command) Run(run *v1alpha1.EtcdBenchmark) *v1alpha1.EtcdBenchmark {
	if c.isEmpty() {
		return run
	}
	out := run.DeepCopy()
	c.walk(reflect.ValueOf(&out.Status))
	return out
}

// walk translates all texts of a value.
func (c Command) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c.walk(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				c.walk(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			c.walk(v.Index(i))
		}
	case reflect.String:
		v.SetString(c.Text(v.String()))
	}
}

// Error returns an error with a translated message.
func (c Command) Error(err error) error {
	if err == nil {
		return nil
	}
	if text := err.Error(); c.Text(text) != text {
		return translated{err, c.Text(text)}
	}
	return err
}

// translated is an error with another message.
type translated struct {
	error
	text string
}

// Error implements error.
func (t translated) Error() string { return t.text }

// Unwrap returns the error.
func (t translated) Unwrap() error { return t.error }
