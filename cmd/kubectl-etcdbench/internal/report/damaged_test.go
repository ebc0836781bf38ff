package report

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// allForms makes each form. No content of a file may make one panic.
func allForms(t *testing.T, d *Document) {
	t.Helper()
	_, errHTML := HTML(d)
	_, errCSV := CSV(d)
	_, errJUnit := JUnit(d)
	_, errJSON := d.Marshal()
	redacted, errRedact := Redact(d)
	for _, err := range []error{errHTML, errCSV, errJUnit, errJSON, errRedact} {
		if err != nil {
			t.Error(err)
		}
	}
	d.Page().Markdown()
	if redacted != nil {
		redacted.Page().Markdown()
	}
}

// A file has not passed the rules of admission, so anything may be missing in it.
func TestFormsOfFilesThatNoClusterAdmitted(t *testing.T) {
	bare := measured(t, "writes", time.Millisecond)
	bare.Object.Status.Summary = nil
	bound := measured(t, "writes", time.Millisecond)
	bound.Object.Status.Summary.Validity = &v1alpha1.Validity{Verdict: v1alpha1.ValidityClientBound}
	plain := compared(t, 3, 2)
	plain.Suite.Spec.Compare = nil
	for name, d := range map[string]*Document{
		"samples without a summary":         OfRun(bare.Object, bare.Report),
		"a client bound without reasons":    OfRun(bound.Object, bound.Report),
		"comparisons without spec.compare":  plain,
		"a suite without anything":          OfSuite(&v1alpha1.EtcdBenchmarkSuite{}, nil),
		"a schedule without anything":       OfSchedule(&v1alpha1.EtcdBenchmarkSchedule{}),
		"a run without anything":            OfRun(&v1alpha1.EtcdBenchmark{}, nil),
		"runs of a suite without a summary": OfSuite(plain.Suite, []Run{bare, {Object: &v1alpha1.EtcdBenchmark{}}}),
	} {
		t.Run(name, func(t *testing.T) { allForms(t, d) })
	}
}

// places are all values of a document that can be replaced.
func places(value any, replace func(any), out *[]func(any)) {
	*out = append(*out, replace)
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			places(v[key], func(with any) { v[key] = with }, out)
		}
	case []any:
		for i := range min(len(v), 3) {
			places(v[i], func(with any) { v[i] = with }, out)
		}
	}
}

// FuzzForms replaces one value of a document by another, and makes all forms of what is left.
func FuzzForms(f *testing.F) {
	var seeds [][]byte
	t := &testing.T{}
	for _, d := range []*Document{compared(t, 3, 1.5), OfSchedule(nightly(5)), withReport(t)} {
		if d.Suite != nil {
			d.Runs = d.Runs[:1]
		}
		data, err := json.Marshal(d)
		if err != nil {
			f.Fatal(err)
		}
		seeds = append(seeds, data)
	}
	for i := range len(seeds) {
		for _, with := range []string{`null`, `-1`, `""`, `{}`, `[]`, `9223372036854775807`} {
			f.Add(uint8(i), uint16(7*i+40), []byte(with))
		}
	}
	f.Fuzz(func(t *testing.T, of uint8, at uint16, with []byte) {
		var document, value any
		if json.Unmarshal(with, &value) != nil || json.Unmarshal(seeds[int(of)%len(seeds)], &document) != nil {
			return
		}
		var all []func(any)
		places(document, func(with any) { document = with }, &all)
		all[int(at)%len(all)](value)
		data, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		if d, err := Read(data); err == nil {
			allForms(t, d)
		}
	})
}

func withReport(t *testing.T) *Document {
	r := measured(t, "writes", time.Millisecond)
	r.Object.Status.Conditions = append(r.Object.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionCleaned, Reason: v1alpha1.ReasonKeysLeft})
	return OfRun(r.Object, r.Report)
}
