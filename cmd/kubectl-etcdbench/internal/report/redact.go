package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Redact replaces addresses and names, in all texts of the document, by words like address-1. The same address always
// gets the same word. Names of cells, workloads, loads and targets of a suite stay: they are the result.
func Redact(d *Document) (*Document, error) {
	r := &redaction{words: map[string]string{}}
	if d.Suite != nil {
		r.suite(d.Suite)
	}
	if d.Schedule != nil {
		r.name("schedule", d.Schedule.Name)
		r.name("namespace", d.Schedule.Namespace)
		r.targets(d.Schedule.Spec.SuiteTemplate.Spec.Targets)
	}
	for _, run := range d.Runs {
		r.run(run.Object)
	}
	return r.apply(d)
}

// redaction collects what is replaced, and by what.
type redaction struct {
	words  map[string]string
	counts []string
}

// name replaces a text of a kind.
func (r *redaction) name(kind, name string) {
	if name == "" || r.words[name] != "" {
		return
	}
	r.counts = append(r.counts, kind)
	n := 0
	for _, k := range r.counts {
		if k == kind {
			n++
		}
	}
	r.words[name] = fmt.Sprintf("%s-%d", kind, n)
}

func (r *redaction) suite(s *v1alpha1.EtcdBenchmarkSuite) {
	r.name("suite", s.Name)
	r.name("namespace", s.Namespace)
	r.name("uid", string(s.UID))
	r.targets(s.Spec.Targets)
	for _, result := range s.Status.Results {
		r.name("run", result.Name)
	}
}

func (r *redaction) targets(all []v1alpha1.SuiteTarget) {
	for _, t := range all {
		r.target(t.Target)
	}
}

func (r *redaction) target(t v1alpha1.Target) {
	for _, e := range t.Endpoints {
		r.address(e)
	}
	if t.Service != nil {
		r.name("service", t.Service.Name)
	}
	if t.TLS != nil {
		r.name("secret", t.TLS.SecretName)
		r.name("address", t.TLS.ServerName)
	}
	if t.Auth != nil {
		r.name("secret", t.Auth.SecretName)
	}
	if t.Pods != nil {
		for _, value := range t.Pods.Selector.MatchLabels {
			r.name("label", value)
		}
	}
}

// address replaces an address, and its host wherever that stands alone.
func (r *redaction) address(address string) {
	if _, after, found := strings.Cut(address, "://"); found {
		address = after
	}
	address = strings.TrimSuffix(address, "/")
	host := address
	if h, _, err := net.SplitHostPort(address); err == nil {
		host = h
	}
	r.name("address", address)
	r.name("address", host)
}

func (r *redaction) run(run *v1alpha1.EtcdBenchmark) {
	r.name("run", run.Name)
	r.name("namespace", run.Namespace)
	r.name("uid", string(run.UID))
	r.target(run.Spec.Target)
	if t := run.Status.Target; t != nil {
		r.name("cluster-id", t.ClusterID)
		r.name("prefix", t.KeyPrefix)
		for _, e := range t.Endpoints {
			r.address(e)
		}
		for _, n := range t.Nodes {
			r.name("node", n)
		}
		for _, m := range t.Members {
			r.name("member", m.Name)
			r.name("member-id", m.ID)
			r.address(m.Endpoint)
		}
	}
	for _, p := range run.Status.Pods {
		r.name("pod", p.Name)
		r.name("node", p.Node)
	}
}

// apply replaces whole words in a copy of the document.
func (r *redaction) apply(d *Document) (*Document, error) {
	bare := *d
	bare.Runs = nil
	for _, run := range d.Runs {
		object := run.Object.DeepCopy()
		object.Annotations, object.OwnerReferences, object.ManagedFields = nil, nil, nil
		bare.Runs = append(bare.Runs, Run{object, run.Report})
	}
	if d.Suite != nil {
		bare.Suite = d.Suite.DeepCopy()
		bare.Suite.Annotations, bare.Suite.OwnerReferences, bare.Suite.ManagedFields = nil, nil, nil
	}
	if d.Schedule != nil {
		bare.Schedule = d.Schedule.DeepCopy()
		bare.Schedule.Annotations, bare.Schedule.ManagedFields = nil, nil
	}
	data, err := json.Marshal(bare)
	if err != nil {
		return nil, fmt.Errorf("redacting the report: %w", err)
	}
	var values any
	numbers := json.NewDecoder(bytes.NewReader(data))
	numbers.UseNumber()
	if err := numbers.Decode(&values); err != nil {
		return nil, fmt.Errorf("redacting the report: %w", err)
	}
	if data, err = json.Marshal(r.walk(values, r.pattern())); err != nil {
		return nil, fmt.Errorf("redacting the report: %w", err)
	}
	out := &Document{}
	if err := json.Unmarshal(data, out); err != nil {
		return nil, fmt.Errorf("redacting the report: %w", err)
	}
	return out, nil
}

// shortest is the length from which a name is replaced inside of other texts, too: a shorter one may be a common word.
const shortest = 3

// pattern matches all names as whole words, the longest first, so that an address goes before its host; nil if there are
// none.
func (r *redaction) pattern() *regexp.Regexp {
	var words []string
	for word := range r.words {
		if len(word) >= shortest {
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		return nil
	}
	slices.SortFunc(words, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	return regexp.MustCompile(`(^|[^A-Za-z0-9])(` + strings.Join(words, "|") + `)($|[^A-Za-z0-9])`)
}

// walk replaces in all strings, and in keys that are a name as a whole: reports have members by their IDs.
func (r *redaction) walk(value any, pattern *regexp.Regexp) any {
	switch v := value.(type) {
	case string:
		return r.replace(v, pattern)
	case []any:
		for i := range v {
			v[i] = r.walk(v[i], pattern)
		}
	case map[string]any:
		out := map[string]any{}
		for key, inner := range v {
			if word := r.words[key]; strings.HasPrefix(word, "member-id") {
				key = word
			}
			out[key] = r.walk(inner, pattern)
		}
		return out
	}
	return value
}

func (r *redaction) replace(s string, pattern *regexp.Regexp) string {
	if word := r.words[s]; word != "" {
		return word
	}
	if pattern == nil {
		return s
	}
	// Neighbouring matches share the character between them, so one pass is not enough.
	for range 2 {
		s = pattern.ReplaceAllStringFunc(s, func(found string) string {
			m := pattern.FindStringSubmatch(found)
			return m[1] + r.words[m[2]] + m[3]
		})
	}
	return s
}
