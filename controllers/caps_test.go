package controllers

import (
	"context"
	"net"
	"net/netip"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// TestCapsOfTheOperator: a run beyond the limits finishes, and no object is created for it.
func TestCapsOfTheOperator(t *testing.T) {
	allowed, err := ParseHostPattern("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	s := newHarness(t)
	s.loadJob()
	s.restart(func(r *EtcdBenchmarkReconciler) {
		r.Caps = Caps{Endpoints: []HostPattern{allowed}, PodsPerRun: 2, RunsPerNamespace: 2}
	})
	tests := map[string]struct {
		change  func(*v1alpha1.EtcdBenchmark)
		reason  string
		reports string
	}{
		"address": {targets(v1alpha1.Target{Endpoints: []string{"192.0.2.1:2379"}}), v1alpha1.ReasonEndpointNotAllowed, "192.0.2.1:2379"},
		"pods": {func(run *v1alpha1.EtcdBenchmark) {
			run.Spec.Load.Pods, run.Spec.Load.Connections, run.Spec.Load.Clients = 3, 3, 3
		}, v1alpha1.ReasonLimitExceeded, "--max-pods-per-run"},
	}
	for name, tc := range tests {
		refused := s.join("beyond-"+name, tc.change)
		refused.awaitFinished(tc.reason)
		refused.checkMessage(tc.reports)
		if jobs := refused.jobs(v1alpha1.ComponentLoad); len(jobs) > 0 {
			t.Errorf("%s: %d Jobs were made", name, len(jobs))
		}
	}
}

func (s *harness) awaitLimit() {
	s.t.Helper()
	s.await("the wait for the limit of runs", func() bool {
		q := s.status().Queue
		return s.condition(v1alpha1.ConditionFinished) == "False/"+v1alpha1.StageQueued && q != nil && q.WaitsFor == v1alpha1.QueueLimit
	})
}

// TestTheLimitOfRunsMakesARunWait: the oldest one starts when a run of its namespace ends. A run that waits for another
// one on its target does not count.
func TestTheLimitOfRunsMakesARunWait(t *testing.T) {
	s := newHarness(t)
	s.loadJob()
	s.restart(func(r *EtcdBenchmarkReconciler) { r.Caps = Caps{RunsPerNamespace: 2} })
	elsewhere := func(host string) func(*v1alpha1.EtcdBenchmark) {
		return targets(v1alpha1.Target{Endpoints: []string{host + ":2379"}})
	}
	waits := s.join("waits")
	waits.awaitQueued(s)
	second := s.join("second", elsewhere("192.0.2.1"))
	second.loadJob()
	third, last, fourth := s.join("third", elsewhere("192.0.2.2")), s.join("last", elsewhere("192.0.2.2")), s.join("fourth", elsewhere("192.0.2.3"))
	for _, run := range []*harness{third, last, fourth} {
		run.awaitLimit()
		run.checkMessage("--max-runs-per-namespace")
	}
	// Two end at once, so two start. One with the address of another that has started waits for that.
	for _, run := range []*harness{waits, s, second} {
		run.change(func(run *v1alpha1.EtcdBenchmark) { run.Spec.Stop = true })
	}
	third.loadJob()
	fourth.loadJob()
	last.awaitQueued(third)
}

// TestTheOperatorKnowsItsControlPlane: for a run on the control plane, no object is created unless the run acknowledges
// the risk.
func TestTheOperatorKnowsItsControlPlane(t *testing.T) {
	at, err := ParseEndpointPattern("192.0.2.0/28:2379")
	if err != nil {
		t.Fatal(err)
	}
	s := newHarness(t)
	s.loadJob()
	s.restart(func(r *EtcdBenchmarkReconciler) { r.Caps = Caps{ControlPlane: []EndpointPattern{at}} })
	target := targets(v1alpha1.Target{Endpoints: []string{"https://192.0.2.1:2379"}, TLS: &v1alpha1.TargetTLS{SecretName: "tls"}})
	refused := s.join("refused", target)
	refused.awaitFinished(v1alpha1.ReasonControlPlaneTarget)
	for _, reports := range []string{"192.0.2.1:2379", "--control-plane-endpoints", "spec.guard.acknowledgeControlPlane"} {
		refused.checkMessage(reports)
	}
	if jobs := refused.jobs(v1alpha1.ComponentLoad); len(jobs) > 0 {
		t.Errorf("%d Jobs were made on a control plane", len(jobs))
	}
	s.join("acknowledged", target, func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Guard = &spec.Guard{AcknowledgeControlPlane: true}
	}).loadJob()
}

// resolver resolves names to fixed addresses. It never answers for one name, and blocks another one, beyond the limit,
// until it is released.
type resolver struct {
	names       map[string]string
	hangs, held string
	letGo       chan struct{}
}

func (r resolver) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	switch host {
	case r.hangs:
		<-ctx.Done()
		return nil, ctx.Err()
	case r.held:
		<-r.letGo
	}
	if address, ok := r.names[host]; ok {
		return []netip.Addr{netip.MustParseAddr(address)}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// TestTheOperatorLooksNamesUp: the target's names are resolved, also in the run's namespace. A name that cannot be
// resolved delays no other run, and its run continues.
func TestTheOperatorLooksNamesUp(t *testing.T) {
	at, err := ParseEndpointPattern("192.0.2.0/28:2379")
	if err != nil {
		t.Fatal(err)
	}
	named, err := ParseEndpointPattern("configured.example")
	if err != nil {
		t.Fatal(err)
	}
	s, letGo := newHarness(t), make(chan struct{})
	s.loadJob()
	s.restart(func(r *EtcdBenchmarkReconciler) {
		r.Caps = Caps{ControlPlane: []EndpointPattern{at, named}}
		r.Resolver = resolver{hangs: "hangs.example.org", held: "held.example.org", letGo: letGo, names: map[string]string{
			"etcd.example.org": "192.0.2.1", "etcd." + s.run.Namespace + ".svc": "192.0.2.2", "configured.example": "198.51.100.1", "elsewhere.example.org": "198.51.100.2",
		}}
	})
	target := func(endpoint string) func(*v1alpha1.EtcdBenchmark) {
		return targets(v1alpha1.Target{Endpoints: []string{endpoint}})
	}
	hangs, held := s.join("hangs", target("hangs.example.org:2379")), s.join("held", target("held.example.org:2379"))
	for name, tc := range map[string]struct{ endpoint, reports string }{
		"name":       {"etcd.example.org:2379", "192.0.2.1"},
		"service":    {"etcd:2379", "192.0.2.2"},
		"configured": {"198.51.100.1:2379", "configured.example"},
	} {
		refused := s.join(name, target(tc.endpoint))
		refused.awaitFinished(v1alpha1.ReasonControlPlaneTarget)
		refused.checkMessage(tc.reports)
		if jobs := refused.jobs(v1alpha1.ComponentLoad); len(jobs) > 0 {
			t.Errorf("%s: %d Jobs were made on a control plane", name, len(jobs))
		}
	}
	s.join("elsewhere", target("elsewhere.example.org:2379")).loadJob()
	s.join("unknown", target("unknown.example.org:2379")).loadJob()
	hangs.loadJob()
	close(letGo)
	held.loadJob()
}
