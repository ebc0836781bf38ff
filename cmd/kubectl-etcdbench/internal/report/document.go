package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

const (
	// Kind of a document.
	Kind = "EtcdBenchmarkReport"
	// Version is the newest version of the document that this package reads, and the one that it writes.
	Version = 1
)

// Document is everything that a report shows: finished objects as the API has them. Every form is made of it, so a newer
// tool makes better forms of an old document.
type Document struct {
	Kind    string `json:"kind"`
	Version int    `json:"version"`
	// Tool is the version of the tool that wrote the document.
	Tool string `json:"tool,omitempty"`
	// Redacted: names and addresses are replaced.
	Redacted bool `json:"redacted,omitempty"`
	// Local: the runs were on a machine without a cluster.
	Local bool `json:"local,omitempty"`
	// Notes say what could not be read when the document was made.
	Notes []string `json:"notes,omitempty"`
	// Suite or Schedule is what the report is about. Without them, it is about Runs.
	Suite    *v1alpha1.EtcdBenchmarkSuite    `json:"suite,omitempty"`
	Schedule *v1alpha1.EtcdBenchmarkSchedule `json:"schedule,omitempty"`
	// Runs are those of the suite that still exist, or the runs that the report is about.
	Runs []Run `json:"runs,omitempty"`
}

// Run is a run with the report that the operator has stored, which has its histograms and its course.
type Run struct {
	Object *v1alpha1.EtcdBenchmark `json:"object"`
	// Label names the run beside others, if its name does not: the file that it is from.
	Label  string          `json:"label,omitempty"`
	Report json.RawMessage `json:"report,omitempty"`
}

// OfRun is the document of one run. report may be nil.
func OfRun(run *v1alpha1.EtcdBenchmark, report []byte) *Document {
	return &Document{Kind: Kind, Version: Version, Runs: []Run{NewRun(run, report)}}
}

// OfSuite is the document of a suite and of those of its runs that are known.
func OfSuite(s *v1alpha1.EtcdBenchmarkSuite, runs []Run) *Document {
	return &Document{Kind: Kind, Version: Version, Suite: s, Runs: runs}
}

// OfSchedule is the document of a schedule.
func OfSchedule(s *v1alpha1.EtcdBenchmarkSchedule) *Document {
	return &Document{Kind: Kind, Version: Version, Schedule: s}
}

// NewRun leaves out a report that is not JSON.
func NewRun(run *v1alpha1.EtcdBenchmark, report []byte) Run {
	if !json.Valid(report) {
		report = nil
	}
	return Run{Object: run, Report: report}
}

// run is the run of this name; without an object if it is not known.
func (d *Document) run(name string) Run {
	if i := slices.IndexFunc(d.Runs, func(r Run) bool { return r.Object.Name == name }); i >= 0 {
		return d.Runs[i]
	}
	return Run{}
}

// reportOf is the command that shows one run; empty if no cluster has the run, or if its name is replaced.
func (d *Document) reportOf(r Run) string {
	switch {
	case d.Redacted || d.Local:
		return ""
	case r.Label != "":
		return "kubectl etcdbench report " + text.Word(r.Label)
	case isLocal(r.Object.ObjectMeta):
		return ""
	}
	return fmt.Sprintf("kubectl etcdbench report run/%s -n %s", r.Object.Name, r.Object.Namespace)
}

// label is short, and differs from those of the other runs.
func (r Run) label() string { return cmp.Or(r.Label, r.Object.Name) }

// detail returns the histograms and the course of a run; nothing if they are missing or cannot be read.
func (r Run) detail() benchmark.Detail {
	if len(r.Report) == 0 {
		return benchmark.Detail{}
	}
	d, _ := benchmark.ReadReport(r.Report)
	return d
}

// Read reads a document, or an object as -o json and kubectl get -o json write it.
func Read(data []byte) (*Document, error) {
	if !json.Valid(data) {
		converted, err := yaml.YAMLToJSON(data)
		if err != nil {
			return nil, fmt.Errorf("wanted JSON or YAML: %w", err)
		}
		data = converted
	}
	kind := metav1.TypeMeta{}
	if err := json.Unmarshal(data, &kind); err != nil {
		return nil, fmt.Errorf("wanted a result: %w", err)
	}
	switch kind.Kind {
	case Kind:
		return readDocument(data)
	case "EtcdBenchmark":
		return readRun(data)
	case "List", "EtcdBenchmarkList":
		return readList(data)
	case "EtcdBenchmarkSuite":
		s := &v1alpha1.EtcdBenchmarkSuite{}
		return OfSuite(s, nil), finished(json.Unmarshal(data, s), &s.Status.Conditions)
	case "EtcdBenchmarkSchedule":
		s := &v1alpha1.EtcdBenchmarkSchedule{}
		return OfSchedule(s), finished(json.Unmarshal(data, s), &s.Status.Conditions)
	}
	return nil, fmt.Errorf("wanted an EtcdBenchmark, an EtcdBenchmarkSuite, an EtcdBenchmarkSchedule or an %s, found the kind %q", Kind, kind.Kind)
}

func readDocument(data []byte) (*Document, error) {
	d := &Document{}
	if err := json.Unmarshal(data, d); err != nil {
		return nil, fmt.Errorf("reading the report: %w", err)
	}
	if d.Version < 1 || d.Version > Version {
		return nil, fmt.Errorf("reading the report: wanted a version from 1 to %d, found %d: use a newer kubectl-etcdbench", Version, d.Version)
	}
	for i, r := range d.Runs {
		if r.Object == nil {
			return nil, fmt.Errorf("reading the report: runs[%d] has no object", i)
		}
	}
	if d.Suite == nil && d.Schedule == nil && len(d.Runs) == 0 {
		return nil, fmt.Errorf("reading the report: wanted a suite, a schedule or runs, found none")
	}
	return d, nil
}

// readRun reads a run with the field that -o json adds.
func readRun(data []byte) (*Document, error) {
	run, extra := &v1alpha1.EtcdBenchmark{}, struct {
		Report json.RawMessage `json:"report"`
	}{}
	if err := json.Unmarshal(data, run); err != nil {
		return nil, fmt.Errorf("reading the run: %w", err)
	}
	if err := json.Unmarshal(data, &extra); err != nil {
		return nil, fmt.Errorf("reading the run: %w", err)
	}
	return OfRun(run, extra.Report), finished(nil, &run.Status.Conditions)
}

func readList(data []byte) (*Document, error) {
	list := struct {
		Items []json.RawMessage `json:"items"`
	}{}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("reading the list: %w", err)
	}
	d := &Document{Kind: Kind, Version: Version}
	for i, item := range list.Items {
		one, err := Read(item)
		if err != nil {
			return nil, fmt.Errorf("item %d of the list: %w", i, err)
		}
		if one.Suite != nil || one.Schedule != nil {
			return nil, fmt.Errorf("item %d of the list: wanted only EtcdBenchmarks in a list", i)
		}
		d.Runs = append(d.Runs, one.Runs...)
	}
	if len(d.Runs) == 0 {
		return nil, fmt.Errorf("wanted EtcdBenchmarks, found an empty list")
	}
	return d, nil
}

// finished refuses a manifest, which has no result.
func finished(err error, conditions *[]metav1.Condition) error {
	if err != nil {
		return err
	}
	if len(*conditions) == 0 {
		return fmt.Errorf("it has no result: wanted an object as -o json writes it, not a manifest")
	}
	return nil
}

// Marshal writes the document as JSON without spaces: indented, each bucket of a histogram would be a line.
func (d *Document) Marshal() ([]byte, error) {
	data, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("writing the report: %w", err)
	}
	return append(data, '\n'), nil
}
