package report

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// elements calls visit for each element of a page.
func elements(t *testing.T, page string, visit func(name string, attributes map[string]string)) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		attributes := map[string]string{}
		for _, a := range n.Attr {
			attributes[a.Key] = a.Val
		}
		visit(n.Data, attributes)
	}
}

// A page shows everything without scripts and without the network, and each of its parts can be linked to.
func TestPagesStandAlone(t *testing.T) {
	for name, d := range documents(t) {
		t.Run(name, func(t *testing.T) {
			page, ids, labelled, scripts := pageOf(t, d), map[string]bool{}, []string{}, 0
			elements(t, page, func(name string, attributes map[string]string) {
				switch name {
				case "script":
					scripts++
				case "link", "iframe", "img", "object", "embed", "base", "form":
					t.Errorf("found the element %s", name)
				}
				for key, value := range attributes {
					if strings.HasPrefix(key, "on") || key == "style" || key == "src" || key == "href" {
						t.Errorf("found %s=%q in %s", key, value, name)
					}
				}
				if id := attributes["id"]; id != "" {
					if ids[id] {
						t.Errorf("found the ID %s twice", id)
					}
					ids[id] = true
				}
				labelled = append(labelled, strings.Fields(attributes["aria-labelledby"])...)
			})
			for _, id := range labelled {
				if !ids[id] {
					t.Errorf("the label %s does not exist", id)
				}
			}
			if scripts != 1 {
				t.Errorf("found %d scripts, wanted that of the page", scripts)
			}
			wantTexts(t, page, `default-src 'none'`, "<title>", `lang="en"`)
			if regexp.MustCompile(`url\(|@import`).MatchString(page) {
				t.Error("the style sheet loads something")
			}
		})
	}
}

func TestPagesSayWhatHappened(t *testing.T) {
	all := documents(t)
	for name, wants := range map[string][]string{
		"run":                {"All objectives were met", "EtcdBenchmark etcd/writes", "P99.9", "Latency over time", "Requests per second", "Put: latency by percentile", "Pending proposals", "kind: EtcdBenchmark", "MET"},
		"run without report": {"All objectives were met", "P99.9"},
		"run without result": {"Ended early: TargetUnreachable", "No member answered."},
		"several runs":       {"What differs in their manifests", "load.clients", "second", "clients: 11", "save its manifest as benchmark.yaml and run <code>kubectl"},
		"suite":              {"Regressed", "Change from baseline to candidate", "Put: ratio of the candidate to the baseline", "in each round", "Throughput of each cell", "DETECTABLE CHANGE", "versions-1-1", "seed"},
		"search":             {"Passed", "The highest rate", "old: latency and throughput by rate", "first missed", "ceiling 18,000/s"},
		"schedule":           {"The numbers have become worse", "put Throughput", "nightly-29", "-12.0 %", "0 3 * * *"},
	} {
		t.Run(name, func(t *testing.T) { wantTexts(t, pageOf(t, all[name]), wants...) })
	}
	stopped := measured(t, "writes", time.Millisecond).Object
	stopped.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonStopped, Message: "It was stopped by a user."}}
	wantTexts(t, pageOf(t, OfRun(stopped, nil)), "Ended early: Stopped", "It was stopped by a user.", "P99.9")
	missed := measured(t, "writes", 80*time.Millisecond)
	wantTexts(t, pageOf(t, OfRun(missed.Object, missed.Report)), "An objective was missed", "MISSED")
}

// Details of runs are left out if a page would be too large, those of good runs first, and the page says how to see them.
func TestPagesAreBounded(t *testing.T) {
	d := compared(t, 3, 1)
	bad := d.Runs[4].Object.Name
	for i := range d.Suite.Status.Results {
		if d.Suite.Status.Results[i].Name == bad {
			d.Suite.Status.Results[i].Passed = metav1.ConditionFalse
		}
	}
	runs := d.Runs
	for i := range 60 {
		more := runs[i%len(runs)]
		more.Object = more.Object.DeepCopy()
		more.Object.Name = fmt.Sprintf("extra-%d", i)
		d.Runs = append(d.Runs, more)
	}
	page := pageOf(t, d)
	if len(page) > maxHTML+64<<10 {
		t.Errorf("the page has %d bytes", len(page))
	}
	wantTexts(t, page, "has no room", "kubectl etcdbench report run/extra-59 -n etcd", "<summary>"+bad)
	if first := strings.Index(page, `id="run-1"`); first < 0 || !strings.Contains(page[first:first+200], bad) {
		t.Errorf("wanted the details of %s first", bad)
	}
}

// Text of users never becomes markup or a formula.
func TestHostileNames(t *testing.T) {
	for name, d := range hostile(t) {
		t.Run(name, func(t *testing.T) {
			page, scripts := pageOf(t, d), 0
			elements(t, page, func(name string, _ map[string]string) {
				if name == "script" {
					scripts++
				}
			})
			if scripts != 1 {
				t.Errorf("HTML: a name became an element: found %d scripts", scripts)
			}
			markdown := string(d.Page().Markdown())
			for _, markup := range []string{"<script", "@everyone", "[z](", "`x`", "\u202e", "\x1b"} {
				if strings.Contains(markdown, markup) {
					t.Errorf("Markdown: found %q", markup)
				}
			}
			if at := strings.IndexAny(page, "\u202e\x1b\x00"); at >= 0 {
				t.Errorf("HTML: found a character that is not printed: %q", page[max(at-200, 0):at+1])
			}
			for _, row := range tableFrom(t, d) {
				for _, cell := range row {
					if strings.HasPrefix(cell, "=") || strings.HasPrefix(cell, "@") {
						t.Errorf("CSV: found the formula %q", cell)
					}
				}
			}
			junitFrom(t, d)
		})
	}
}

func tableFrom(t *testing.T, d *Document) [][]string {
	t.Helper()
	data, err := CSV(d)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestCSV(t *testing.T) {
	all := documents(t)
	cell := func(rows [][]string, row int, column string) string {
		for i, name := range rows[0] {
			if name == column {
				return rows[row][i]
			}
		}
		t.Fatalf("found no column %s", column)
		return ""
	}
	run := tableFrom(t, all["run"])
	if len(run) != 2 || cell(run, 1, "operation") != "Put" || cell(run, 1, "p99_microseconds") == "" || cell(run, 1, "passed") != "True" || cell(run, 1, "fingerprint") == "" {
		t.Errorf("run: found %q", run)
	}
	if rows := tableFrom(t, all["run without result"]); len(rows) != 2 || cell(rows, 1, "end") != "TargetUnreachable" {
		t.Errorf("run without result: found %q", rows)
	}
	suite := tableFrom(t, all["suite"])
	if len(suite) != 1+6 || cell(suite, 6, "round") != "3" || cell(suite, 6, "throughput_per_second") == "" || cell(suite, 6, "fingerprint") == "" {
		t.Errorf("suite: found %q", suite)
	}
	schedule := tableFrom(t, all["schedule"])
	if len(schedule) != 1+30 || cell(schedule, 1, "value") != "10000" || cell(schedule, 1, "unit") != "per_second" {
		t.Errorf("schedule: found %q", schedule)
	}
}

func junitFrom(t *testing.T, d *Document) junitSuite {
	t.Helper()
	data, err := JUnit(d)
	if err != nil {
		t.Fatal(err)
	}
	all := junitSuites{}
	if err := xml.Unmarshal(data, &all); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return all.Suites[0]
}

func TestJUnit(t *testing.T) {
	all := documents(t)
	all["missed"] = OfRun(measured(t, "writes", 80*time.Millisecond).Object, nil)
	for name, want := range map[string][4]int{
		"run": {2, 0, 0, 0}, "missed": {2, 1, 0, 0}, "run without result": {1, 0, 1, 0},
		// The end, six runs and two comparisons.
		"suite": {9, 2, 0, 0}, "schedule": {3, 2, 0, 0},
	} {
		if s := junitFrom(t, all[name]); [4]int{s.Tests, s.Failures, s.Errors, s.Skipped} != want {
			t.Errorf("%s: found %d tests, %d failures, %d errors, %d skipped, wanted %v", name, s.Tests, s.Failures, s.Errors, s.Skipped, want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	all := documents(t)
	markdown := string(all["suite"].Page().Markdown())
	wantTexts(t, markdown, "❌ Regressed", "| CELL |", "### Comparisons", "Throughput")
	if strings.Contains(markdown, "<svg") || strings.Contains(markdown, "versions-1-1: ") {
		t.Error("found a plot or the details of a run")
	}
	// What other forms show only in plots has its numbers in a table.
	wantTexts(t, string(all["several runs"].Page().Markdown()), "| RUN | OPERATION | PER SECOND |", "\n| first | Put | 10,100 |", "\n| second | Put | 10,100 |")
	wantTexts(t, string(all["schedule"].Page().Markdown()), "| cell | metric | last session |", "\n| put | Throughput | 10,001/s | 10,000/s | 9,000/s to 11,000/s | Worse |")
	big := all["suite"].Suite.DeepCopy()
	for i := range 900 {
		r := big.Status.Results[0]
		r.Name, r.Invalid = fmt.Sprintf("run-%d", i), strings.Repeat("because ", 60)
		big.Status.Results = append(big.Status.Results, r)
	}
	if markdown := OfSuite(big, nil).Page().Markdown(); len(markdown) > 65536 {
		t.Errorf("the Markdown has %d bytes", len(markdown))
	}
}

// A comparison of targets begins with what they are, and then has the verdicts. Other numbers come later.
func TestMarkdownBeginsWithWhatWasCompared(t *testing.T) {
	d := compared(t, 3, 1.5, func(run *v1alpha1.EtcdBenchmark) { run.Status.Summary.Fingerprint.Versions = []string{"3.7.3"} })
	d.Suite.Annotations = map[string]string{v1alpha1.AnnotationProgram + "old": "./etcd-main: etcd 3.6.16, Git SHA 1a2b3c4, go1.26.8"}
	markdown := string(d.Page().Markdown())
	at := 0
	for _, want := range []string{"Regressed", "- **old**: ./etcd-main: etcd 3.6.16, Git SHA 1a2b3c4, go1.26.8", "- **new**: Etcd 3.7.3", "| CELL |", "| new |", "- **targets**"} {
		next := strings.Index(markdown[at:], want)
		if next < 0 {
			t.Fatalf("wanted %q after %q, in\n%s", want, markdown[:at], markdown)
		}
		at += next
	}
	if strings.Contains(markdown, "Highest throughput") || strings.Count(markdown, "### Comparisons") != 1 {
		t.Errorf("found\n%s", markdown)
	}
	wantTexts(t, pageOf(t, d), "<dt>old</dt><dd>./etcd-main: etcd 3.6.16, Git SHA 1a2b3c4, go1.26.8</dd>")
}

func TestRedact(t *testing.T) {
	all := documents(t)
	for name, secrets := range map[string][]string{
		"run":   {"writes", "prod.example", "cafe0001", "worker-7", "etcd-0", "etcd-1", "aa01", "0f5e1f2a", "x7k"},
		"suite": {"prod.example", "versions", "5af-uid", "worker-7", "etcd-0", "cafe0001"},
	} {
		before := pageOf(t, all[name])
		d, err := Redact(all[name])
		if err != nil {
			t.Fatal(err)
		}
		data, err := d.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range secrets {
			if strings.Contains(string(data), secret) {
				t.Errorf("%s: found %q in the document", name, secret)
			}
		}
		if pageOf(t, all[name]) != before {
			t.Errorf("%s: the document itself has changed", name)
		}
		page := pageOf(t, d)
		if name == "run" {
			wantTexts(t, page, "address-1", "member-1", "All objectives were met", "Latency over time", "Pending proposals")
		} else {
			wantTexts(t, page, "Regressed", "old", "in each round")
		}
	}
}

func TestJUnitHasTimeAndNumbers(t *testing.T) {
	d := documents(t)["run"]
	run := d.Runs[0].Object
	start := metav1.NewTime(time.Unix(1000, 0))
	run.Status.StartTime = &start
	meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished).LastTransitionTime = metav1.NewTime(start.Add(90 * time.Second))
	s := junitFrom(t, d)
	if s.Time != "90" || s.Cases[0].Time != "90" {
		t.Errorf("wanted 90 s, found %q and %q", s.Time, s.Cases[0].Time)
	}
	found := map[string]string{}
	for _, p := range s.Properties.Property {
		found[p.Name] = p.Value
	}
	if put := run.Status.Summary.Operations[0]; found["putLatencyP99Microseconds"] != fmt.Sprint(put.Latency.P99Microseconds) || found["putSucceeded"] != fmt.Sprint(put.Succeeded) {
		t.Errorf("found %v", found)
	}
}
