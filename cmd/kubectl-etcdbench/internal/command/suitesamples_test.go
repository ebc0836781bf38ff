package command

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/history"
	"github.com/etcdbench/etcd-benchmark-operator/internal/suite"
)

// samplesOf are the files of a kind of sample.
func samplesOf(t *testing.T, pattern string) []string {
	t.Helper()
	folder := filepath.Join("..", "..", "..", "..", "config", "samples")
	files, err := filepath.Glob(filepath.Join(folder, pattern))
	special, errSpecial := filepath.Glob(filepath.Join(folder, "*", pattern))
	files = append(files, special...)
	if err := errors.Join(err, errSpecial); err != nil || len(files) == 0 {
		t.Fatalf("found %d samples: %v", len(files), err)
	}
	return files
}

func readSample(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = yaml.UnmarshalStrict(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// shrink leaves a suite its targets of etcd, fewer requests, fewer clients and no more rounds than its comparison needs.
func shrink(s *v1alpha1.EtcdBenchmarkSuiteSpec, endpoints []string) {
	s.Targets = slices.DeleteFunc(s.Targets, func(t v1alpha1.SuiteTarget) bool {
		other := t.Target.Datastore != "" && t.Target.Datastore != spec.Etcd
		if other {
			s.Exclude = slices.DeleteFunc(s.Exclude, func(e v1alpha1.SuiteExclusion) bool { return e.Target == t.Name })
		}
		return other
	})
	// The members of the tests do not serve the v2 API.
	overV2 := func(l v1alpha1.SuiteLoad) bool { return l.Load.Transport == spec.TransportV2 }
	for _, l := range s.Loads {
		if overV2(l) {
			s.Compare = nil
			s.Exclude = slices.DeleteFunc(s.Exclude, func(e v1alpha1.SuiteExclusion) bool { return e.Load == l.Name })
		}
	}
	s.Loads = slices.DeleteFunc(s.Loads, overV2)
	if isBurst(s) {
		// All targets are the same here.
		s.Targets, s.Compare = s.Targets[:1], nil
	}
	for i := range s.Loads {
		l := &s.Loads[i].Load
		l.SessionTimeoutSeconds = nil
		l.Clients, l.Connections, l.WarmupSeconds, l.DurationSeconds, l.Requests = min(l.Clients, 10), min(l.Connections, 10), 0, nil, new(int64(100))
		if isBurst(s) {
			l.Requests = nil
		}
	}
	if most := 2; len(s.Loads)*len(s.Workloads) > 40 {
		s.Loads, s.Workloads = s.Loads[:most], s.Workloads[:most]
	}
	for _, w := range s.Workloads {
		if m := w.Workload.Mixed; m != nil {
			m.Keys.Count = min(m.Keys.Count, 1000)
		}
		if r := w.Workload.Range; r != nil {
			r.Keys.Count = max(min(r.Keys.Count, 1000), int64(r.KeysPerRequest))
		}
		if p := w.Workload.Put; p != nil && p.Overwrite {
			p.Keys.Count = min(p.Keys.Count, 1000)
		}
	}
	if f := s.Search; f != nil {
		f.Load.Clients, f.Load.Connections, f.Load.WarmupSeconds, f.Load.DurationSeconds = 10, 10, 0, new(int32(1))
		f.MinPerSecond, f.MaxPerSecond, f.Confirmations, f.PauseSeconds = 1200, 1200, 1, new(int32(0))
	}
	s.Rounds = 1
	if s.Compare != nil && s.Compare.Baseline.Values == nil {
		s.Rounds = 3
	}
	for i := range s.Targets {
		t := &s.Targets[i].Target
		t.Endpoints, t.Service, t.Ephemeral = endpoints, nil, nil
	}
}

// isBurst reports whether a suite starts processes, of which each client is one.
func isBurst(s *v1alpha1.EtcdBenchmarkSuiteSpec) bool { return s.Workloads[0].Workload.Fetch != nil }

// ranSmall runs a suite locally with small numbers, and requires that each of its runs did its load.
func ranSmall(t *testing.T, s v1alpha1.EtcdBenchmarkSuite, endpoints []string) (got v1alpha1.EtcdBenchmarkSuite) {
	t.Helper()
	shrink(&s.Spec, endpoints)
	args := []string{"run", "--local", "-f", "-", "-o", "json"}
	if suite.NeedsBaseline(&s) != "" {
		args = append(args, "--baseline", baselineOf(t, s))
	}
	c := call(manifestOf(t, s), args...)
	c.end(t)
	if err := json.Unmarshal([]byte(c.out.String()), &got); err != nil {
		t.Fatalf("%v\n%s", err, c.err)
	}
	for _, r := range got.Status.Results {
		ended := r.Reason == v1alpha1.ReasonCompleted || r.Probe != nil && r.Reason == v1alpha1.ReasonMissedEarly
		want := int64(100)
		if isBurst(&s.Spec) {
			want = int64(s.Spec.Loads[0].Load.Clients)
		}
		if !ended || r.Probe == nil && r.Operations[0].Succeeded != want && succeeded(r) != want {
			t.Errorf("got %+v", r)
		}
	}
	if got.Status.Runs.Finished < got.Status.Runs.Planned || got.Status.Runs.Planned == 0 {
		t.Errorf("got %+v", got.Status.Runs)
	}
	return got
}

// succeeded is how many requests of all kinds did.
func succeeded(r v1alpha1.SuiteResult) (n int64) {
	for _, o := range r.Operations {
		n += o.Succeeded
	}
	return n
}

func manifestOf(t *testing.T, s v1alpha1.EtcdBenchmarkSuite) string {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// baselineOf runs the suite without its comparison, and returns the file with the result.
func baselineOf(t *testing.T, s v1alpha1.EtcdBenchmarkSuite) string {
	t.Helper()
	s.Spec.Compare = nil
	path := filepath.Join(t.TempDir(), "baseline.json")
	call(manifestOf(t, s), "run", "--local", "-f", "-", "-o", "json="+path).end(t)
	return path
}

func TestSamplesOfSuitesRun(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 3, nil)
	for _, file := range samplesOf(t, "suite_*.yaml") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var s v1alpha1.EtcdBenchmarkSuite
			readSample(t, file, &s)
			if s.Spec.Targets[0].Target.Disk != nil {
				if c := ended(t, "run", "--local", "-f", file); c.status != exitFailed || !strings.Contains(c.err, "disk --path") {
					t.Errorf("a suite of disks needs a cluster: status %d, %s", c.status, c.err)
				}
				return
			}
			ranSmall(t, s, cluster.Endpoints)
		})
	}
}

// The suite of a schedule runs as one of its sessions, and each series of its history gets a number. A busy machine can
// make all runs of a cell invalid; then there is none.
func TestSamplesOfSchedulesRun(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 1, nil)
	for _, file := range samplesOf(t, "schedule_*.yaml") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var sch v1alpha1.EtcdBenchmarkSchedule
			readSample(t, file, &sch)
			if err := history.Check(&sch); err != nil {
				t.Fatal(err)
			}
			s := v1alpha1.EtcdBenchmarkSuite{
				TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: manifest.SuiteKind},
				ObjectMeta: metav1.ObjectMeta{Name: sch.Name + "-1"}, Spec: sch.Spec.SuiteTemplate.Spec,
			}
			got := ranSmall(t, s, cluster.Endpoints)
			sch.Status.Active = s.Name
			history.Add(&sch, history.Of(&sch, &got), &got)
			if len(sch.Status.Series) == 0 || sch.Status.Sessions[0].Reason != v1alpha1.ReasonCompleted {
				t.Errorf("got %+v", sch.Status)
			}
			for _, series := range sch.Status.Series {
				valid := slices.ContainsFunc(got.Status.Results, func(r v1alpha1.SuiteResult) bool { return r.Cell == series.Cell && r.Invalid == "" })
				if len(series.Values) != 1 || (series.Values[0] > 0) != valid {
					t.Errorf("got %+v, wanted a number of the session if a run is valid (%v)", series, valid)
				}
			}
		})
	}
}
