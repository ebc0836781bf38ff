//go:build guard

package guard

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/admission"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load/workload"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

var (
	record = flag.String("record", "", "`folder` to write the record to")
	corpus = flag.String("corpus", "testdata/corpus.json", "`file` of manifests, good and bad")
)

const repository = "../../../.."

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	path := filepath.Join(*record, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644)); err != nil {
		t.Fatal(err)
	}
}

func indented(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}

// admit creates an object as an API server would, with an identity that is always
// the same.
func admit(t *testing.T, schema *admission.Schema, manifest []byte) (*v1alpha1.EtcdBenchmark, error) {
	t.Helper()
	u := &unstructured.Unstructured{}
	asJSON, err := yaml.YAMLToJSON(manifest)
	if err == nil {
		err = u.UnmarshalJSON(asJSON)
	}
	if err != nil {
		t.Fatal(err)
	}
	if u.GetName() == "" {
		u.SetName("sample")
		u.SetGenerateName("")
	}
	u.SetNamespace("default")
	b, err := schema.Create(u, time.Unix(1_700_000_000, 0))
	if err != nil {
		return nil, err
	}
	b.UID = "01234567-89ab-cdef-0123-456789abcdef"
	return b, nil
}

func newSchema(t *testing.T) *admission.Schema {
	t.Helper()
	schema, err := admission.NewSchema()
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func TestRecordSamples(t *testing.T) {
	if *record == "" {
		t.Skip("no -record")
	}
	schema := newSchema(t)
	files, err := filepath.Glob(repository + "/config/samples/etcdbenchmark_*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			b, err := admit(t, schema, data)
			if err != nil {
				t.Fatal(err)
			}
			recordRun(t, name, b)
		})
	}
}

func recordRun(t *testing.T, name string, b *v1alpha1.EtcdBenchmark) {
	t.Helper()
	endpoints := []string{"127.0.0.1:2379", "127.0.0.2:2379", "127.0.0.3:2379"}
	write(t, name+"/object.json", indented(t, b))
	p, err := benchmark.Plan(b, endpoints)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	write(t, name+"/plan.json", encoded)
	write(t, name+"/requests.txt", []byte(requestsOf(t, p)))

	b.KeepResolved()
	snaps := []*results.Snapshot{snapshotOf(p, 0), snapshotOf(p, 1)}
	merged, summary := results.Merge(snaps), results.Summarize(snaps)
	s := &b.Status
	s.Conditions = nil
	s.Target = benchmark.TargetStatus(b, endpoints, merged.Target)
	for _, snap := range snaps {
		s.Pods = append(s.Pods, benchmark.Pod(snap))
	}
	s.Summary = benchmark.Summary(b, summary)
	objectives, passed := benchmark.Judge(b, &summary, v1alpha1.ReasonCompleted)
	s.Objectives = objectives
	at := metav1.NewTime(time.Unix(1_700_000_000, 0).UTC())
	if passed != nil {
		passed.LastTransitionTime = at
		meta.SetStatusCondition(&s.Conditions, *passed)
	}
	meta.SetStatusCondition(&s.Conditions, metav1.Condition{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonCompleted, LastTransitionTime: at})
	s.Display = benchmark.Display(b)
	write(t, name+"/status.json", indented(t, s))
	progress := benchmark.Progress(b, snaps)
	write(t, name+"/progress.json", indented(t, progress))

	var table bytes.Buffer
	if err := benchmark.WriteTable(&table, b, benchmark.NewTimeline(merged.Timeline)); err != nil {
		t.Fatal(err)
	}
	write(t, name+"/table.txt", table.Bytes())
	dash, err := benchmark.Perfdash(b)
	if err != nil {
		t.Fatal(err)
	}
	write(t, name+"/perfdash.json", dash)
	report, err := benchmark.Report(b, merged, summary)
	if err != nil {
		t.Fatal(err)
	}
	write(t, name+"/report.json", report)

	var families bytes.Buffer
	for _, mf := range snaps[0].Families() {
		if _, err := expfmt.MetricFamilyToText(&families, mf); err != nil {
			t.Fatal(err)
		}
	}
	write(t, name+"/families.txt", families.Bytes())
	write(t, name+"/termination.txt", []byte(base64.StdEncoding.EncodeToString(snaps[0].TerminationMessage())))
	w := workload.New(p)
	var kinds []string
	for _, o := range w.Operations() {
		kinds = append(kinds, string(o))
	}
	slices.Sort(kinds)
	write(t, name+"/operations.txt", []byte(strings.Join(kinds, "\n")+"\n"))
}

// entry is a manifest of the corpus.
type entry struct {
	Name     string `json:"name"`
	Manifest any    `json:"manifest"`
}

// outcome is what becomes of a manifest: the refusals, or the spec with defaults.
type outcome struct {
	Name     string   `json:"name"`
	Refusals []string `json:"refusals,omitempty"`
	Spec     any      `json:"spec,omitempty"`
}

func TestRecordRefusals(t *testing.T) {
	if *record == "" {
		t.Skip("no -record")
	}
	data, err := os.ReadFile(*corpus)
	if err != nil {
		t.Fatal(err)
	}
	var entries []entry
	if err := json.Unmarshal(data, &entries); err != nil {
		t.Fatal(err)
	}
	schema := newSchema(t)
	var outcomes []outcome
	for _, e := range entries {
		manifest, err := json.Marshal(e.Manifest)
		if err != nil {
			t.Fatal(err)
		}
		o := outcome{Name: e.Name}
		b, err := admit(t, schema, manifest)
		if err != nil {
			o.Refusals = causesOf(err)
		} else {
			o.Spec = b.Spec
		}
		outcomes = append(outcomes, o)
	}
	write(t, "refusals.json", indented(t, outcomes))
}

func causesOf(err error) []string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil || len(status.Status().Details.Causes) == 0 {
		return []string{err.Error()}
	}
	var out []string
	for _, c := range status.Status().Details.Causes {
		out = append(out, string(c.Type)+" | "+c.Field+" | "+c.Message)
	}
	slices.Sort(out)
	return out
}
