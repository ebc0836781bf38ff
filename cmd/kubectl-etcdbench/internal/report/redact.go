package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/reasons"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
)

// Redact replaces addresses and names, in all texts of the document, by words like address-1. The same address always
// gets the same word. Names of cells, workloads, loads and targets of a suite stay: they are the result.
func Redact(d *Document) (*Document, error) {
	r := &redaction{words: map[string]string{}, entries: map[string]bool{}}
	if d.Suite != nil {
		r.suite(d.Suite)
	}
	if d.Schedule != nil {
		r.schedule(d.Schedule)
	}
	for _, run := range d.Runs {
		r.run(run.Object)
		r.name("file", run.Label)
	}
	return r.apply(d)
}

// redaction collects what is replaced, and by what.
type redaction struct {
	words  map[string]string
	counts []string
	// entries are names of cells, and of what they combine. They stay.
	entries map[string]bool
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
	r.name("schedule", s.Labels[v1alpha1.LabelSchedule])
	r.cells(s)
	r.targets(s.Spec.Targets)
	for _, result := range s.Status.Results {
		r.name("run", result.Name)
	}
	r.name("run", s.Status.Current)
}

func (r *redaction) schedule(s *v1alpha1.EtcdBenchmarkSchedule) {
	r.name("schedule", s.Name)
	r.name("namespace", s.Namespace)
	r.name("uid", string(s.UID))
	template := &v1alpha1.EtcdBenchmarkSuite{Spec: s.Spec.SuiteTemplate.Spec}
	r.cells(template)
	r.targets(template.Spec.Targets)
	for _, session := range s.Status.Sessions {
		r.name("suite", session.Name)
	}
	r.name("suite", s.Status.Active)
}

// cells keeps the names of entries, of cells and of objectives.
func (r *redaction) cells(s *v1alpha1.EtcdBenchmarkSuite) {
	for _, t := range s.Spec.Targets {
		r.entries[string(t.Name)] = true
	}
	for _, w := range s.Spec.Workloads {
		r.entries[string(w.Name)] = true
	}
	for _, l := range s.Spec.Loads {
		r.entries[string(l.Name)] = true
	}
	for _, c := range suite.Cells(s) {
		r.entries[c.Name] = true
	}
	for _, result := range s.Status.Results {
		r.entries[result.Cell] = true
	}
	delete(r.entries, "")
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
	r.name("suite", run.Labels[v1alpha1.LabelSuite])
	r.name("schedule", run.Labels[v1alpha1.LabelSchedule])
	if cell := run.Labels[v1alpha1.LabelCell]; cell != "" {
		r.entries[cell] = true
	}
	r.name("report", run.Status.ReportName)
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
	if s := run.Status.Summary; s != nil {
		r.texts(s)
	}
	for _, p := range run.Status.Pods {
		r.name("pod", p.Name)
		r.name("node", p.Node)
	}
}

// addressIn matches addresses in a text that a server or a proxy wrote.
var addressIn = regexp.MustCompile(`\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?|\[[0-9A-Fa-f:.]+\](?::\d+)?|\b[\w-]+(?:\.[\w-]+)+:\d+`)

func (r *redaction) texts(s *v1alpha1.Summary) {
	var all []string
	for _, o := range s.Operations {
		for _, e := range o.Errors {
			all = append(all, e.Example)
		}
	}
	for _, m := range s.Members {
		if m.Kubelet != nil {
			all = append(all, m.Kubelet.Unknown)
		}
	}
	for _, address := range addressIn.FindAllString(strings.Join(all, "\n"), -1) {
		r.address(address)
	}
}

// found collects the names in any part of a document: those of placements, selectors and queues, wherever they are.
func (r *redaction) found(key string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range slices.Sorted(maps.Keys(v)) {
			at := inner
			if key == "nodeSelector" && (inner == "kubernetes.io/os" || inner == "kubernetes.io/arch") {
				continue
			}
			if key == "nodeSelector" || key == "matchLabels" || key == "imagePullSecrets" {
				at = key
			}
			r.found(at, v[inner])
		}
	case []any:
		for _, inner := range v {
			r.found(key, inner)
		}
	case string:
		r.foundText(key, v)
	}
}

func (r *redaction) foundText(key, value string) {
	switch key {
	case "nodeSelector", "matchLabels", "values":
		r.name("label", value)
	case "imagePullSecrets", "secretName":
		r.name("secret", value)
	case "behind":
		namespace, name, _ := strings.Cut(value, "/")
		r.name("namespace", namespace)
		r.name("run", name)
	}
}

// apply replaces in a copy of the document.
func (r *redaction) apply(d *Document) (*Document, error) {
	copied := *d
	copied.Runs, copied.Redacted = nil, true
	for _, run := range d.Runs {
		object := run.Object.DeepCopy()
		bare(&object.ObjectMeta)
		bareOf(object.Spec.Pod)
		copied.Runs = append(copied.Runs, Run{object, run.Label, run.Report})
	}
	if d.Suite != nil {
		copied.Suite = d.Suite.DeepCopy()
		bare(&copied.Suite.ObjectMeta)
		bareOf(copied.Suite.Spec.Template.Pod)
		// A warning of a run that the document lacks can have any name.
		for i, w := range copied.Suite.Status.Warnings {
			copied.Suite.Status.Warnings[i].Message = reasons.MeaningOfWarning(w.Kind)
		}
	}
	if d.Schedule != nil {
		copied.Schedule = d.Schedule.DeepCopy()
		bare(&copied.Schedule.ObjectMeta)
		bareOf(copied.Schedule.Spec.SuiteTemplate.Spec.Template.Pod)
	}
	data, err := json.Marshal(copied)
	if err != nil {
		return nil, fmt.Errorf("redacting the report: %w", err)
	}
	var values any
	numbers := json.NewDecoder(bytes.NewReader(data))
	numbers.UseNumber()
	if err := numbers.Decode(&values); err != nil {
		return nil, fmt.Errorf("redacting the report: %w", err)
	}
	dropLogs(values)
	r.found("", values)
	if data, err = json.Marshal(r.replacement().walk("", values)); err != nil {
		return nil, fmt.Errorf("redacting the report: %w", err)
	}
	out := &Document{}
	if err := json.Unmarshal(data, out); err != nil {
		return nil, fmt.Errorf("redacting the report: %w", err)
	}
	return out, nil
}

// dropLogs removes the texts of lines of members' logs, wherever they are: they can have any name.
func dropLogs(value any) {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			if lines, is := inner.([]any); is && key == "lines" && v["kind"] != nil {
				for _, line := range lines {
					if fields, is := line.(map[string]any); is {
						delete(fields, "text")
					}
				}
			}
			dropLogs(inner)
		}
	case []any:
		for _, inner := range v {
			dropLogs(inner)
		}
	}
}

// bare removes what a report does not need: among others, all labels but those that name the suite and the cell of a run.
func bare(m *metav1.ObjectMeta) {
	m.Annotations, m.OwnerReferences, m.ManagedFields, m.GenerateName, m.Finalizers = nil, nil, nil, "", nil
	maps.DeleteFunc(m.Labels, func(key, _ string) bool {
		return !slices.Contains([]string{v1alpha1.LabelSuite, v1alpha1.LabelSchedule, v1alpha1.LabelCell, v1alpha1.LabelRound}, key)
	})
}

// bareOf removes the labels and annotations of client pods: their values are names, or texts with names.
func bareOf(pod *v1alpha1.PodSettings) {
	if pod != nil {
		pod.Labels, pod.Annotations = nil, nil
	}
}
