//go:build e2e

package e2e

import (
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/certificates"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// failWithin bounds the time from when a failure is detectable to Finished.
const failWithin = 60 * time.Second

// badRun is a run that must fail.
type badRun struct {
	// name of the run's object.
	name string
	// in, if set, is the target in whose namespace the run lies.
	in     *etcdCluster
	change func(*v1alpha1.EtcdBenchmark)

	wantReason string
	// wantNamed are words that the message must contain: the wrong setting.
	wantNamed []string
	// knowableAfter is how long after its creation the failure becomes detectable. For a run with pods, the time until
	// they run is added.
	knowableAfter time.Duration
}

// badTargets are runs whose target does not exist or does not accept them, by what is wrong.
func badTargets() map[string]badRun {
	target := func(target v1alpha1.Target) func(*v1alpha1.EtcdBenchmark) {
		return func(b *v1alpha1.EtcdBenchmark) { b.Spec.Target = target }
	}
	refusing := strings.Replace(suite.side.endpoint(0), ":2379", ":9", 1)
	noPods := metav1.LabelSelector{MatchLabels: map[string]string{"app": "no-such-app"}}
	return map[string]badRun{
		"target's name does not resolve": {
			name:       "unresolvable",
			change:     target(v1alpha1.Target{Endpoints: []string{"no-such-host.e2e-failures.svc:2379"}}),
			wantReason: v1alpha1.ReasonTargetUnreachable, wantNamed: []string{"no-such-host"},
		},
		"target refuses connections": {
			name:       "refused",
			change:     target(v1alpha1.Target{Endpoints: []string{refusing}}),
			wantReason: v1alpha1.ReasonTargetUnreachable, wantNamed: []string{refusing, "refused"},
		},
		"target's Service is missing": {
			name:       "no-service",
			change:     target(v1alpha1.Target{Service: &v1alpha1.ServiceTarget{Name: "no-such-service"}}),
			wantReason: v1alpha1.ReasonTargetNotFound, wantNamed: []string{"no-such-service"},
		},
		"target's Service lacks the port": {
			name:       "no-port",
			in:         suite.side,
			change:     target(v1alpha1.Target{Service: &v1alpha1.ServiceTarget{Name: etcdName, Port: intstr.FromString("no-such-port")}}),
			wantReason: v1alpha1.ReasonTargetNotFound, wantNamed: []string{"no-such-port"},
		},
		"no pod has the target's labels": {
			name:       "no-pods",
			change:     target(v1alpha1.Target{Pods: &v1alpha1.PodsTarget{Selector: noPods}}),
			wantReason: v1alpha1.ReasonTargetNotFound, wantNamed: []string{"no-such-app"},
		},
		"foreign keys under the prefix": {
			name:       "foreign-keys",
			change:     func(b *v1alpha1.EtcdBenchmark) { b.Spec.Target.KeyPrefix = "foreign/" },
			wantReason: v1alpha1.ReasonPrefixNotEmpty, wantNamed: []string{"foreign/"},
		},
		"more to write than etcd's quota has left": {
			name:       "too-much-to-write",
			change:     func(b *v1alpha1.EtcdBenchmark) { b.Spec.Load.Requests = new(int64(100_000_000)) },
			wantReason: v1alpha1.ReasonQuotaInsufficient, wantNamed: []string{"quota", "spec.guard"},
		},
	}
}

// badCredentials are runs whose credentials the target, or the kubelet, rejects.
func badCredentials() map[string]badRun {
	tls := func(secret string) func(*v1alpha1.EtcdBenchmark) {
		return func(b *v1alpha1.EtcdBenchmark) { b.Spec.Target.TLS = &v1alpha1.TargetTLS{SecretName: secret} }
	}
	auth := func(secret string) func(*v1alpha1.EtcdBenchmark) {
		return func(b *v1alpha1.EtcdBenchmark) { b.Spec.Target.Auth = &v1alpha1.TargetAuth{SecretName: secret} }
	}
	secured, guarded := suite.secured, suite.guarded
	return map[string]badRun{
		"target's certificate is another authority's": {name: "wrong-ca", in: secured, change: tls("wrong-ca"), wantReason: v1alpha1.ReasonTLSFailed, wantNamed: []string{"certificate"}},
		"no client certificate":                       {name: "no-certificate", in: secured, change: tls("no-certificate"), wantReason: v1alpha1.ReasonTLSFailed, wantNamed: []string{"certificate"}},
		"wrong password":                              {name: "wrong-password", in: guarded, change: auth("wrong-password"), wantReason: v1alpha1.ReasonAuthenticationFailed, wantNamed: []string{"wrong-password"}},
		"no user, and the target asks for one":        {name: "no-password", in: guarded, change: func(*v1alpha1.EtcdBenchmark) {}, wantReason: v1alpha1.ReasonAuthenticationFailed, wantNamed: []string{"auth"}},
		"Secret is missing":                           {name: "no-secret", in: secured, change: tls("no-such-secret"), wantReason: v1alpha1.ReasonSecretInvalid, wantNamed: []string{"no-such-secret"}},
		"Secret lacks a key":                          {name: "no-key-in-it", in: guarded, change: auth("half"), wantReason: v1alpha1.ReasonSecretInvalid, wantNamed: []string{"half", plan.PasswordFile}},
	}
}

// badPlaces are runs whose pods are forbidden or cannot be scheduled.
func badPlaces(t *testing.T) map[string]badRun {
	nowhere := func(b *v1alpha1.EtcdBenchmark) {
		b.Spec.Pod = &v1alpha1.PodSettings{NodeSelector: map[string]string{"no-such-label": "x"}}
		b.Spec.SchedulingTimeoutSeconds = 10
	}
	quota := fullNamespace(t)
	return map[string]badRun{
		"no node takes the pods": {name: "unschedulable", change: nowhere, wantReason: v1alpha1.ReasonUnschedulable, wantNamed: []string{"node"}, knowableAfter: 10 * time.Second},
		"ResourceQuota has no room for a pod": {
			name:       "quota",
			change:     func(b *v1alpha1.EtcdBenchmark) { b.Namespace = quota },
			wantReason: v1alpha1.ReasonPodsForbidden, wantNamed: []string{"no-pods", "quota"},
		},
	}
}

// checkFailures starts all bad runs at once, because each mostly waits, and checks how each ended.
func checkFailures(t *testing.T) {
	ns := namespace(t, "failures")
	prepareFailures(t)
	putNeighbours(t, suite.side, []string{"foreign/key", "foreign/.owner"})
	before := map[*etcdCluster]map[string]entry{}
	for _, c := range []*etcdCluster{suite.side, suite.secured, suite.guarded} {
		before[c] = putForeign(t, c)
	}
	bad := badTargets()
	maps.Copy(bad, badCredentials())
	maps.Copy(bad, badPlaces(t))
	runs := map[string]*v1alpha1.EtcdBenchmark{}
	for fault, run := range bad {
		runs[fault] = createBad(t, ns, run)
	}
	for fault, run := range bad {
		t.Run(run.name, func(t *testing.T) {
			b := requireBadEnd(t, runs[fault], run)
			victim{run: b, target: run.target(), before: before[run.target()]}.requireNoHarm(t)
			reliability.add(t, fault, v1alpha1.StagePreparing, b, false)
		})
	}
}

// target is the etcd that the run should load, or would load if it found it.
func (r badRun) target() *etcdCluster {
	if r.in != nil {
		return r.in
	}
	return suite.side
}

func createBad(t *testing.T, ns string, run badRun) *v1alpha1.EtcdBenchmark {
	t.Helper()
	b := newPutIn(ns, suite.side, run.name, 100)
	if run.in != nil {
		b = newPut(run.in, run.name, 100)
	}
	b.Spec.Load.Pods = 1
	run.change(b)
	return create(t, b)
}

// fullNamespace creates a namespace whose quota allows no pod.
func fullNamespace(t *testing.T) string {
	t.Helper()
	ns := namespace(t, "quota")
	forbidPods(t, ns)
	return ns
}

// forbidPods keeps new pods out of a namespace until allow is called.
func forbidPods(t *testing.T, ns string) (allow func()) {
	t.Helper()
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "no-pods"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
	}
	if err := suite.client.Create(suite.ctx, quota); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := suite.client.Delete(suite.ctx, quota); err != nil {
			t.Fatal(err)
		}
	}
}

// prepareFailures creates the wrong Secrets.
func prepareFailures(t *testing.T) {
	t.Helper()
	other, err := certificates.New("another CA")
	if err != nil {
		t.Fatal(err)
	}
	user, err := issue(suite.authority, certificates.Holder{Name: "benchmark"})
	if err != nil {
		t.Fatal(err)
	}
	secured, guarded := suite.secured.namespace, suite.guarded.namespace
	for _, secret := range []struct {
		namespace, name string
		data            map[string][]byte
	}{
		{secured, "wrong-ca", map[string][]byte{plan.CAFile: other.Certificate(), plan.CertFile: user[plan.CertFile], plan.KeyFile: user[plan.KeyFile]}},
		{secured, "no-certificate", map[string][]byte{plan.CAFile: suite.authority.Certificate()}},
		{guarded, "wrong-password", basicAuth("bench", wrongPassword)},
		{guarded, "half", map[string][]byte{plan.UsernameFile: []byte("bench")}},
	} {
		if err := suite.createSecret(secret.namespace, secret.name, secret.data); err != nil {
			t.Fatal(err)
		}
	}
}

// requireBadEnd requires that the run ended for the right reason, in time, with a message that names what is wrong, and
// without a running pod.
func requireBadEnd(t *testing.T, b *v1alpha1.EtcdBenchmark, want badRun) *v1alpha1.EtcdBenchmark {
	b = awaitEnd(t, b)
	requireReason(t, b, want.wantReason)
	finished := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionFinished)
	if missing := containsAll(finished.Message, want.wantNamed); missing != nil {
		t.Error(missing)
	}
	if !meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionStalled) {
		t.Errorf("wanted Stalled=True, found %+v", b.Status.Conditions)
	}
	knowable := knowableSince(t, b).Add(want.knowableAfter)
	if took := b.Status.CompletionTime.Sub(knowable); took > failWithin {
		t.Errorf("Finished came %s after the failure was detectable; wanted at most %s", took, failWithin)
	}
	return b
}

// knowableSince is when the run's first pod began to run; without a pod, it is the run's creation.
func knowableSince(t *testing.T, b *v1alpha1.EtcdBenchmark) time.Time {
	t.Helper()
	pods, err := podsOf(suite.ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods {
		for _, status := range pod.Status.ContainerStatuses {
			if terminated := status.State.Terminated; terminated != nil && !terminated.StartedAt.IsZero() {
				return terminated.StartedAt.Time
			}
		}
	}
	return b.CreationTimestamp.Time
}
