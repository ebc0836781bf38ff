package local

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/supervisor"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/freeport"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// limit is far more than any run here takes.
const limit = 90 * time.Second

func TestMain(m *testing.M) {
	supervisor.Main()
	os.Exit(m.Run())
}

// mixed is an admitted run of reads and writes with two client pods.
func mixed(change ...func(*v1alpha1.EtcdBenchmark)) *v1alpha1.EtcdBenchmark {
	run := &v1alpha1.EtcdBenchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "mixed", UID: "11112222-3333-4444-5555-666677778888", Generation: 1},
		Spec: v1alpha1.EtcdBenchmarkSpec{
			Target: v1alpha1.Target{Datastore: spec.Etcd, Service: &v1alpha1.ServiceTarget{Name: "etcd"}, Members: spec.MembersAll},
			Workload: spec.Workload{Type: spec.WorkloadMixed, Mixed: &spec.Mixed{
				ReadPercent: 50, Consistency: spec.Linearizable,
				Keys: spec.Keys{Count: 100, SizeBytes: 4, Distribution: spec.Uniform}, Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 16},
			}},
			Load: spec.Load{
				Transport: spec.TransportClient, Pods: 2, Connections: 2, Clients: 4,
				Requests: new(int64(300)), RequestTimeoutSeconds: 10, Seed: 1,
			},
			Objectives: []v1alpha1.Objective{{
				Name: "rate", Type: spec.ObjectiveThroughput, Throughput: &v1alpha1.ThroughputObjective{MinPerSecond: 1},
			}},
			TimeoutSeconds: 60,
		},
	}
	for _, c := range change {
		c(run)
	}
	return run
}

// lasting makes a run longer than any test.
func lasting(run *v1alpha1.EtcdBenchmark) {
	run.Spec.Load.Requests, run.Spec.Load.DurationSeconds = nil, new(int32(3600))
	run.Spec.TimeoutSeconds = 7200
}

// at sets the addresses of a run's target.
func at(endpoints ...string) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Target.Service, run.Spec.Target.Endpoints = nil, endpoints
	}
}

func options(change func(*Options)) Options {
	o := Options{Show: func(*v1alpha1.EtcdBenchmark) {}, Notice: func(string) {}}
	if change != nil {
		change(&o)
	}
	return o
}

func wantCondition(t *testing.T, run *v1alpha1.EtcdBenchmark, kind string, status metav1.ConditionStatus, reason string) {
	t.Helper()
	c := meta.FindStatusCondition(run.Status.Conditions, kind)
	if c == nil || c.Status != status || c.Reason != reason {
		t.Errorf("%s: wanted %s/%s, got %+v", kind, status, reason, c)
	}
}

// wantJudged wants all objectives met, and the run to pass: a limited load generator does not change that the minimum
// throughput was reached.
func wantJudged(t *testing.T, run *v1alpha1.EtcdBenchmark) {
	t.Helper()
	for _, o := range run.Status.Objectives {
		if o.Result != v1alpha1.ObjectiveMet {
			t.Errorf("objective %s: wanted it met, got %+v", o.Name, o)
		}
	}
	if v := run.Status.Summary.Validity; v == nil || v.Shared != v1alpha1.SharedNode {
		t.Errorf("wanted load and target to share a node, got %+v", v)
	}
	wantCondition(t, run, v1alpha1.ConditionPassed, metav1.ConditionTrue, v1alpha1.ReasonObjectivesMet)
}

// keysUnder counts what is left in the target under the run's prefix.
func keysUnder(t *testing.T, c *etcdtest.Cluster, prefix string) int64 {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: c.Endpoints[:1], DialTimeout: limit})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	r, err := client.Get(t.Context(), prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		t.Fatal(err)
	}
	return r.Count
}

// A run beside whose keys are those of others says so, and prints no command to delete them.
func TestKeysThatAreLeftHaveAReason(t *testing.T) {
	target := etcdtest.Start(t, 1, nil)
	client, err := clientv3.New(clientv3.Config{Endpoints: target.Endpoints, DialTimeout: limit})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	run := mixed(at(target.Endpoints...), lasting)
	run.Spec.Load.Pods = 1
	stop := make(chan struct{})
	write := sync.OnceFunc(func() {
		if _, err := client.Put(t.Context(), run.KeyPrefix()+"5foreign", ""); err != nil {
			t.Error(err)
		}
		close(stop)
	})
	_, err = Run(t.Context(), run, options(func(o *Options) {
		o.Stop = stop
		o.Show = func(shown *v1alpha1.EtcdBenchmark) {
			if benchmark.Phase(shown) == results.StageMeasuring {
				write()
			}
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	wantCondition(t, run, v1alpha1.ConditionCleaned, metav1.ConditionFalse, v1alpha1.ReasonKeysLeft)
	c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionCleaned)
	if !strings.Contains(c.Message, run.KeyPrefix()+".owner") || strings.Contains(c.Message, benchmark.Leftover(run).Command) {
		t.Errorf("got %q, wanted the reason and no command", c.Message)
	}
}

func TestRunCompletes(t *testing.T) {
	target := etcdtest.Start(t, 1, nil)
	run, armed := mixed(at(target.Endpoints...)), ""
	// The longest time that the API allows.
	run.Spec.TimeoutSeconds = 7 * 24 * 60 * 60
	report, err := Run(t.Context(), run, options(func(o *Options) {
		o.Show = func(seen *v1alpha1.EtcdBenchmark) {
			if c := meta.FindStatusCondition(seen.Status.Conditions, v1alpha1.ConditionFinished); c.Reason == v1alpha1.StageArmed {
				armed = cmp.Or(armed, c.Message)
			}
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if start := lifecycle.FormatStart(*run.Status.StartAt); !strings.Contains(armed, start) {
		t.Errorf("wanted the start %s in %q", start, armed)
	}
	wantCondition(t, run, v1alpha1.ConditionFinished, metav1.ConditionTrue, v1alpha1.ReasonCompleted)
	wantJudged(t, run)
	wantCondition(t, run, v1alpha1.ConditionCleaned, metav1.ConditionTrue, v1alpha1.ReasonKeysDeleted)
	if meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionReconciling) != nil || run.Status.Progress != nil {
		t.Errorf("a finished run still shows progress: %+v", run.Status)
	}
	s := run.Status
	if detail, err := benchmark.ReadReport(report); err != nil || results.Sum(detail.Course.Timeline.Points).Succeeded != 300 || detail.Course.Samples == nil {
		t.Errorf("wanted a course with 300 requests and the members' samples, found %+v, %v", detail, err)
	}
	if s.Summary.MeasuredRequests != 300 || s.Summary.Partial || len(s.Summary.Operations) != 2 || len(s.Pods) != 2 {
		t.Errorf("wanted 300 requests of two operations by two client pods, got %+v", s.Summary)
	}
	if s.StartAt == nil || s.CompletionTime == nil || s.Display.Pods != "2/2" || s.Target.Version == "" || s.ObservedGeneration != 1 {
		t.Errorf("the status is not complete: %+v", s)
	}
	if m := s.Target.Members; len(m) != 1 || m[0].ResidentMemoryBytes == nil {
		t.Errorf("wanted the memory of the member, got %+v", m)
	}
	if len(s.Summary.Warnings) == 0 {
		t.Error("wanted a warning that load and target shared a machine")
	}
	if n := keysUnder(t, target, run.KeyPrefix()); n != 0 {
		t.Errorf("%d keys are left", n)
	}
}

func TestRunIsStopped(t *testing.T) {
	target := etcdtest.Start(t, 1, nil)
	run := mixed(lasting, at(target.Endpoints...))
	stop := make(chan struct{})
	_, err := Run(t.Context(), run, options(func(o *Options) {
		o.Stop = stop
		stopped := false
		o.Show = func(seen *v1alpha1.EtcdBenchmark) {
			if p := seen.Status.Progress; p != nil && p.Requests > 0 && !stopped {
				stopped = true
				close(stop)
			}
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	wantCondition(t, run, v1alpha1.ConditionFinished, metav1.ConditionTrue, v1alpha1.ReasonStopped)
	wantCondition(t, run, v1alpha1.ConditionCleaned, metav1.ConditionTrue, v1alpha1.ReasonKeysDeleted)
	if run.Status.Summary == nil || run.Status.Summary.MeasuredRequests == 0 {
		t.Errorf("wanted the requests so far, got %+v", run.Status.Summary)
	}
	if e := run.Status.Ending; e == nil || e.Reason != v1alpha1.ReasonStopped {
		t.Errorf("wanted the stop in status, as in a cluster, got %+v", e)
	}
	if n := keysUnder(t, target, run.KeyPrefix()); n != 0 {
		t.Errorf("%d keys are left", n)
	}
}

// A run that is stopped in its warm-up has no measurement.
func TestRunIsStoppedBeforeItsWindow(t *testing.T) {
	target := etcdtest.Start(t, 1, nil)
	run := mixed(lasting, at(target.Endpoints...), func(run *v1alpha1.EtcdBenchmark) { run.Spec.Load.WarmupSeconds = 600 })
	stop := make(chan struct{})
	_, err := Run(t.Context(), run, options(func(o *Options) {
		o.Stop = stop
		warm := sync.OnceFunc(func() { close(stop) })
		o.Show = func(seen *v1alpha1.EtcdBenchmark) {
			if benchmark.Phase(seen) == results.StageWarmingUp {
				warm()
			}
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	wantCondition(t, run, v1alpha1.ConditionFinished, metav1.ConditionTrue, v1alpha1.ReasonStopped)
	c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished)
	if !strings.Contains(c.Message, "No client pod reported a measurement") || run.Status.Summary != nil || !benchmark.IsPartial(run) {
		t.Errorf("got %q and the summary %+v, wanted no measurement", c.Message, run.Status.Summary)
	}
}

func TestRunTimesOut(t *testing.T) {
	target := etcdtest.Start(t, 1, nil)
	run := mixed(lasting, at(target.Endpoints...), func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.TimeoutSeconds, run.Spec.Load.Rate = 10, &spec.Rate{PerSecond: 100, Arrival: spec.ArrivalConstant}
	})
	if _, err := Run(t.Context(), run, options(nil)); err != nil {
		t.Fatal(err)
	}
	wantCondition(t, run, v1alpha1.ConditionFinished, metav1.ConditionTrue, v1alpha1.ReasonTimedOut)
	wantCondition(t, run, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonTimedOut)
	// If other tests keep the processors busy, the load generator can be the limit.
	c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionPassed)
	if c == nil || c.Status != metav1.ConditionUnknown || c.Reason != v1alpha1.ReasonNotJudged && c.Reason != v1alpha1.ReasonClientBound {
		t.Errorf("wanted Passed to be Unknown, found %+v", c)
	}
	if s := run.Status.Summary; s == nil || !s.Partial {
		t.Errorf("a run that timed out is shown as whole, or not at all: %+v", s)
	}
}

// A run that ends during the preload has request counts and no measurement.
func TestRunEndsBeforeItMeasures(t *testing.T) {
	target := etcdtest.Start(t, 1, nil)
	run := mixed(lasting, at(target.Endpoints...), func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Workload.Mixed.Keys.SizeBytes, run.Spec.Workload.Mixed.Keys.Count, run.Spec.TimeoutSeconds = 8, 10_000_000, 10
		// The preload need not be fast.
		run.Spec.Load.Pods, run.Spec.Load.Connections, run.Spec.Load.Clients = 1, 1, 1
	})
	if _, err := Run(t.Context(), run, options(nil)); err != nil {
		t.Fatal(err)
	}
	wantCondition(t, run, v1alpha1.ConditionFinished, metav1.ConditionTrue, v1alpha1.ReasonTimedOut)
	if run.Status.Summary != nil {
		t.Errorf("a run that never measured has figures: %+v", run.Status.Summary)
	}
	preloaded := int64(0)
	for _, c := range run.Status.RequestCounts {
		preloaded += c.Preload
	}
	if preloaded == 0 {
		t.Errorf("wanted the number of keys that were written, got %+v", run.Status.RequestCounts)
	}
}

func TestRunCannotBeRun(t *testing.T) {
	free, err := freeport.Addresses(1)
	if err != nil {
		t.Fatal(err)
	}
	closed := free[0]
	run := mixed(at(closed))
	if _, err := Run(t.Context(), run, options(nil)); err != nil {
		t.Fatal(err)
	}
	wantCondition(t, run, v1alpha1.ConditionFinished, metav1.ConditionTrue, v1alpha1.ReasonTargetUnreachable)
	wantCondition(t, run, v1alpha1.ConditionCleaned, metav1.ConditionTrue, v1alpha1.ReasonNothingWritten)
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished); !strings.Contains(c.Message, closed) {
		t.Errorf("wanted %q in %q", closed, c.Message)
	}
	if run.Status.Summary != nil {
		t.Errorf("a run that never measured has figures: %+v", run.Status.Summary)
	}
}

func TestRunIsLeft(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	run := mixed(lasting)
	_, err := Run(ctx, run, options(func(o *Options) {
		o.Members = 1
		o.Show = func(*v1alpha1.EtcdBenchmark) { leave() }
	}))
	if !errors.Is(err, ErrLeft) {
		t.Errorf("wanted ErrLeft, got %v", err)
	}
	if left, _ := os.ReadDir(temporary); len(left) != 0 {
		t.Errorf("the members' data is left: %v", left)
	}
}

func TestValidate(t *testing.T) {
	endpoints := at("etcd:2379")
	withTLS := func(run *v1alpha1.EtcdBenchmark) { run.Spec.Target.TLS = &v1alpha1.TargetTLS{SecretName: "certs"} }
	withAuth := func(run *v1alpha1.EtcdBenchmark) { run.Spec.Target.Auth = &v1alpha1.TargetAuth{SecretName: "user"} }
	on := func(store spec.Datastore) func(*v1alpha1.EtcdBenchmark) {
		return func(run *v1alpha1.EtcdBenchmark) { run.Spec.Target.Datastore = store }
	}
	large := func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Workload.Mixed.Keys.Count, run.Spec.Workload.Mixed.Values.SizeBytes = 10_000_000, 1_000_000
	}
	certificates := plan.Given{plan.CAFile: {Path: filepath.Join(etcdtest.NewAuthority(t).SecretDir(t), plan.CAFile)}}
	cases := map[string]struct {
		run     *v1alpha1.EtcdBenchmark
		options Options
		want    string
	}{
		"endpoints":                   {mixed(endpoints), Options{}, ""},
		"service":                     {mixed(), Options{}, "--endpoints"},
		"service, with members":       {mixed(), Options{Members: 3}, ""},
		"too many members":            {mixed(), Options{Members: 10}, "1 to 9"},
		"negative members":            {mixed(), Options{Members: -1}, "1 to 9"},
		"a program that is missing":   {mixed(), Options{Members: 1, MemberBinary: "/no/such/etcd"}, "--member-binary: wanted a program that can be started: "},
		"ZooKeeper in a cluster":      {mixed(on(spec.ZooKeeper)), Options{}, "or start members with --members 3"},
		"Consul without its program":  {mixed(on(spec.Consul)), Options{Members: 1}, "members of Consul need its program: give it with --member-binary FILE, for example --member-binary consul"},
		"Consul with its program":     {mixed(on(spec.Consul)), Options{Members: 1, MemberBinary: os.Args[0]}, ""},
		"values above the memory":     {mixed(on(spec.Consul), large), Options{Members: 3, MemberBinary: os.Args[0]}, "3 × 2 × 10,000,"},
		"a store that is not started": {mixed(on(spec.Kine)), Options{Members: 1, MemberBinary: os.Args[0]}, "--members starts no kine"},
		"certificates without folder": {mixed(endpoints, withTLS), Options{}, "--tls-dir"},
		"certificates are given":      {mixed(endpoints, withTLS), Options{TLS: certificates}, ""},
		"certificates are damaged":    {mixed(endpoints, withTLS), Options{TLS: plan.Given{plan.CAFile: {Name: "--cacert x", Content: "x"}}}, "--cacert x"},
		"certificates, plain members": {mixed(endpoints, withTLS, withAuth), Options{Members: 1}, ""},
		"user without folder":         {mixed(endpoints, withAuth), Options{}, "--auth-dir"},
		"a token in place of a user":  {mixed(endpoints, withAuth), Options{User: plan.Given{plan.TokenFile: {Content: "a"}}}, "needs a username"},
		"user and certificates":       {mixed(endpoints, withAuth, withTLS), Options{User: plan.Given{plan.UsernameFile: {Content: "a"}, plan.PasswordFile: {Content: "b"}}, TLS: certificates}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := tc.options.Validate(tc.run)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("wanted an error with %q, got %v", tc.want, err)
			}
		})
	}
}

// A local run is tuned as a client pod is.
func TestARunIsTuned(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	t.Setenv("GOGC", "")
	c := etcdtest.Start(t, 1, nil)
	cases := map[string]struct {
		run     *v1alpha1.EtcdBenchmark
		options func(*Options)
		want    bool
	}{
		"by itself":    {mixed(at(c.Endpoints...)), nil, true},
		"with members": {mixed(), func(o *Options) { o.Members = 1 }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			debug.SetGCPercent(100)
			if _, err := Run(t.Context(), tc.run, options(tc.options)); err != nil {
				t.Fatal(err)
			}
			if got := debug.SetGCPercent(100); (got != 100) != tc.want {
				t.Errorf("garbage is collected at %d", got)
			}
		})
	}
}

func TestIsLoopback(t *testing.T) {
	for endpoint, want := range map[string]bool{
		"127.0.0.1:2379": true, "http://localhost:2379": true, "https://[::1]:2379": true, "10.0.0.1:2379": false, "etcd:2379": false, "x": false,
	} {
		if got := allLoopback([]string{endpoint}); got != want {
			t.Errorf("%s: wanted %t, got %t", endpoint, want, got)
		}
	}
}

// The smaller limit ends the run before its first write, because the database is larger already.
func TestTheGuardEndsARun(t *testing.T) {
	c := etcdtest.Start(t, 1, nil)
	for maxBytes, cleaned := range map[int64]string{1: v1alpha1.ReasonNothingWritten, 1 << 20: v1alpha1.ReasonKeysDeleted} {
		run := mixed(at(c.Endpoints...), lasting, func(run *v1alpha1.EtcdBenchmark) {
			run.Spec.Guard = &spec.Guard{AcceptWrites: true, StopOn: &spec.StopRules{DatabaseSize: &spec.DatabaseSizeRule{MaxBytes: maxBytes}}}
			// A second pod could write before it is stopped.
			run.Spec.Load.Pods = 1
		})
		if _, err := Run(t.Context(), run, options(nil)); err != nil {
			t.Fatal(err)
		}
		wantCondition(t, run, v1alpha1.ConditionFinished, metav1.ConditionTrue, v1alpha1.ReasonGuardStopped)
		wantCondition(t, run, v1alpha1.ConditionCleaned, metav1.ConditionTrue, cleaned)
		if g := run.Status.Guard; g == nil || g.Rule != "DatabaseSize" || g.Subject == "" || g.Got == "" {
			t.Errorf("status.guard is %+v, wanted the rule, the member and its size", g)
		}
	}
}
