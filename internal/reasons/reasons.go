package reasons

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"
)

// Kind is where a reason stands.
type Kind string

// Entry explains one reason. Words in backticks are names of fields, values and commands.
type Entry struct {
	Kind Kind   `json:"-"`
	Name string `json:"name"`
	// Part is set only for warnings: every sentence of the warning contains it. Only the command explain shows their names.
	Part string `json:"part"`
	// Meaning says what happened, Action what to do. An Action may be empty.
	Meaning string `json:"meaning"`
	Action  string `json:"action"`
}

//go:embed reasons.yaml
var file []byte

// kinds are in the order in which they are shown.
var kinds = sync.OnceValue(func() (all []struct {
	Kind    Kind    `json:"kind"`
	Page    string  `json:"page"`
	Entries []Entry `json:"entries"`
}) {
	if err := yaml.UnmarshalStrict(file, &all); err != nil {
		panic(err)
	}
	for _, k := range all {
		for i := range k.Entries {
			k.Entries[i].Kind = k.Kind
		}
	}
	return all
})

// Kinds returns all kinds in the order in which they are shown.
func Kinds() (all []Kind) {
	for _, k := range kinds() {
		all = append(all, k.Kind)
	}
	return all
}

// Page is the page of the documentation about a kind, from the root of the repository.
func (k Kind) Page() string {
	i := slices.Index(Kinds(), k)
	if i < 0 {
		return ""
	}
	return kinds()[i].Page
}

// All returns the entries of all kinds, in the order of Kinds.
func All() (all []Entry) {
	for _, k := range kinds() {
		all = append(all, k.Entries...)
	}
	return all
}

// Of returns the entries of a kind.
func Of(kind Kind) []Entry {
	return slices.DeleteFunc(All(), func(e Entry) bool { return e.Kind != kind })
}

// Find returns the entries with a name. The case of letters does not matter.
func Find(name string) []Entry {
	return slices.DeleteFunc(All(), func(e Entry) bool { return !strings.EqualFold(e.Name, name) })
}

// Names returns the names of all reasons in alphabetical order, each once.
func Names() []string {
	var names []string
	for _, e := range All() {
		names = append(names, e.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// OfWarning returns the entry for the text of a warning.
func OfWarning(text string) (Entry, bool) {
	for _, e := range All() {
		if e.Part != "" && strings.Contains(text, e.Part) {
			return e, true
		}
	}
	return Entry{}, false
}

// MeaningOfWarning says what a kind of warning means; it repeats the kind if that has no entry.
func MeaningOfWarning(kind string) string {
	for _, e := range Find(kind) {
		if e.Part != "" {
			return e.Meaning
		}
	}
	return kind
}

// Plain returns a text without its backticks, which a terminal would show.
func Plain(text string) string { return strings.ReplaceAll(text, "`", "") }
