package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
)

// Every form of a suite's result has the warnings of its runs, and says beside the verdict what all ran on.
func TestEveryFormHasTheWarningsOfTheRuns(t *testing.T) {
	const machine, memory = "The load generator and the members ran on one machine and shared its CPUs, memory and disk.", "a flush of the log takes less than 5µs on member-secret: the data lies in memory"
	d := compared(t, 3, 1, func(run *v1alpha1.EtcdBenchmark) {
		run.Status.Summary.Warnings = []string{machine}
		if run.Name == "versions-2-3" {
			run.Status.Summary.Warnings = append(run.Status.Summary.Warnings, memory)
		}
	})
	d.Runs = nil
	forms := map[string]string{"html": pageOf(t, d), "md": string(d.Page().Markdown())}
	for name, write := range map[string]func(*Document) ([]byte, error){"csv": CSV, "junit": JUnit, "json": (*Document).Marshal} {
		data, err := write(d)
		if err != nil {
			t.Fatal(err)
		}
		forms[name] = string(data)
	}
	var table bytes.Buffer
	if err := render.WriteSuite(&table, d.Suite); err != nil {
		t.Fatal(err)
	}
	forms["table"] = table.String()
	for name, form := range forms {
		for _, kind := range []string{"machine", "memory", "versions-2-3"} {
			if !strings.Contains(strings.ToLower(form), kind) {
				t.Errorf("%s has no %q:\n%s", name, kind, form)
			}
		}
	}
	if _, _, why := verdictOfSuite(d.Suite); !strings.Contains(strings.Join(why, " "), "ran on one machine") {
		t.Errorf("beside the verdict stands %q", why)
	}
	csv := strings.Split(forms["csv"], "\n")
	if !strings.Contains(csv[1], ",OneMachine,") || !strings.Contains(forms["csv"], ",OneMachine DataInMemory,") {
		t.Errorf("the rows of the runs do not have their own warnings:\n%s", forms["csv"])
	}
	for _, w := range d.Suite.Status.Warnings {
		if want := map[string]int32{"OneMachine": 6, "DataInMemory": 1}[w.Kind]; w.Runs != want {
			t.Errorf("found %+v, wanted it in %d runs", w, want)
		}
	}
	redacted, err := Redact(d)
	if err != nil {
		t.Fatal(err)
	}
	if page := pageOf(t, redacted); strings.Contains(page, "member-secret") || !strings.Contains(page, "memory") {
		t.Error("the redacted page has the name of a member, or lacks its warning")
	}
}

// A run has its warnings in the forms that pipelines and spreadsheets read.
func TestFormsOfARunHaveItsWarnings(t *testing.T) {
	d := OfRun(measured(t, "writes", 1e6, func(run *v1alpha1.EtcdBenchmark) {}).Object, nil)
	d.Runs[0].Object.Status.Summary.Warnings = []string{"a flush of the log takes less than 5µs on m0: the data lies in memory"}
	for name, write := range map[string]func(*Document) ([]byte, error){"csv": CSV, "junit": JUnit} {
		data, err := write(d)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.ToLower(string(data)), "memory") {
			t.Errorf("%s: found %s", name, data)
		}
	}
}

// Runs with equal manifests can have other environments.
func TestSeveralRunsSayWhatDiffersInTheirEnvironments(t *testing.T) {
	first, second := measured(t, "disk", time.Millisecond), measured(t, "memory", time.Millisecond)
	d := OfRun(first.Object, nil)
	d.Runs = append(d.Runs, second)
	const differs = "the data of memory lay in memory."
	if page := strings.ToLower(string(d.Page().Markdown())); strings.Contains(page, differs) {
		t.Errorf("wanted equal environments, got:\n%s", page)
	}
	second.Object.Status.Summary.Members = []v1alpha1.MemberSummary{{WALFsync: &v1alpha1.MemberDuration{Count: 5000, MeanNanoseconds: 700}}}
	if page := strings.ToLower(string(d.Page().Markdown())); !strings.Contains(page, differs) {
		t.Errorf("wanted %q in:\n%s", differs, page)
	}
}
