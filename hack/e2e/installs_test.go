//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// privateSecret may not be used by the operator in strict mode.
const privateSecret = "private"

// checkStrict takes the operator's token. With it, Jobs other than those of client pods are refused, and in strict mode
// those that mount a Secret without the right of etcdbench-client.
func checkStrict(t *testing.T) {
	ns := suite.secured.namespace
	if err := suite.createSecret(ns, privateSecret, basicAuth("admin", "e2e-private-password")); err != nil {
		t.Fatal(err)
	}
	allowClients(t, ns, clientSecret)
	run := runToEnd(t, newTLSPut("before-strict", clientSecret))
	requireCompleted(t, run)
	thief := withToken(t)
	attempt := func(secret, image string) error {
		return thief.Create(suite.ctx, stolenJob(t, run, secret, image), client.DryRunAll)
	}
	if err := attempt(privateSecret, suite.image); err != nil {
		t.Errorf("wanted that a stolen token can mount any Secret without strict mode, as docs/security.md says, found: %v", err)
	}
	if err := attempt(clientSecret, "example.org/another:1"); err == nil || !strings.Contains(err.Error(), "and the image") {
		t.Errorf("wanted the refusal of another image, found: %v", err)
	}
	t.Cleanup(func() {
		if err := suite.detached().upgradeOperator(suite.chart(), ""); err != nil {
			t.Error(err)
		}
	})
	if err := suite.upgradeOperator(suite.chart(), "", "admissionPolicies.strictSecrets=true"); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, "the refusal of a Job with another's Secret", func(context.Context) error {
		if err := attempt(privateSecret, suite.image); err == nil || !strings.Contains(err.Error(), "etcdbench-client may not get Secret "+privateSecret) {
			return fmt.Errorf("the attempt returned: %w", err)
		}
		return nil
	})
	if err := attempt(clientSecret, suite.image); err != nil {
		t.Errorf("wanted a Job with a Secret that etcdbench-client may get, found: %v", err)
	}
	refused := runToEnd(t, newTLSPut("strict-private", privateSecret))
	requireReason(t, refused, v1alpha1.ReasonPodsForbidden)
	if c := meta.FindStatusCondition(refused.Status.Conditions, v1alpha1.ConditionFinished); !strings.Contains(c.Message, privateSecret) {
		t.Errorf("wanted the name of the Secret in the message, found %q", c.Message)
	}
	requireCompleted(t, runToEnd(t, newTLSPut("strict", clientSecret)))
}

// newTLSPut is a small run on the target that requires certificates.
func newTLSPut(name, secret string) *v1alpha1.EtcdBenchmark {
	b := newPut(suite.secured, name, 300)
	b.Spec.Target = v1alpha1.Target{Service: &v1alpha1.ServiceTarget{Name: etcdName}, TLS: &v1alpha1.TargetTLS{SecretName: secret}}
	b.Spec.Load.Connections, b.Spec.Load.Clients = 6, 12
	return b
}

// allowClients lets the service account of client pods get Secrets, as docs/security.md says.
func allowClients(t *testing.T, ns string, secrets ...string) {
	t.Helper()
	name := metav1.ObjectMeta{Namespace: ns, Name: "etcdbench-client"}
	for _, o := range []client.Object{
		&rbacv1.Role{ObjectMeta: name, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: secrets, Verbs: []string{"get"}}}},
		&rbacv1.RoleBinding{
			ObjectMeta: name, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name.Name},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: ns, Name: name.Name}},
		},
	} {
		if err := suite.client.Create(suite.ctx, o); err != nil {
			t.Fatal(err)
		}
	}
}

// withToken is a client that has the operator's token and nothing else.
func withToken(t *testing.T) client.Client {
	t.Helper()
	config := rest.AnonymousClientConfig(suite.config)
	config.BearerToken = strings.TrimSpace(mustKubectl(t, "create", "token", release, "--namespace", operatorNamespace))
	c, err := client.New(config, client.Options{Scheme: suite.client.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// stolenJob is a Job like that of a run, with another Secret and another image.
func stolenJob(t *testing.T, run *v1alpha1.EtcdBenchmark, secret, image string) *batchv1.Job {
	t.Helper()
	var job batchv1.Job
	if err := suite.client.Get(suite.ctx, client.ObjectKey{Namespace: run.Namespace, Name: run.LoadJobName()}, &job); err != nil {
		t.Fatal(err)
	}
	pod := job.Spec.Template
	maps.DeleteFunc(pod.Labels, func(key, _ string) bool {
		return strings.HasPrefix(key, "batch.kubernetes.io/") || job.Labels[key] == ""
	})
	mounted := false
	for _, v := range pod.Spec.Volumes {
		if v.Secret != nil {
			v.Secret.SecretName, mounted = secret, true
		}
	}
	if !mounted {
		t.Fatalf("wanted a Job that mounts a Secret, found the volumes %+v", pod.Spec.Volumes)
	}
	pod.Spec.Containers[0].Image = image
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: run.Namespace, Name: "stolen-" + run.UID8(), Labels: job.Labels},
		Spec:       batchv1.JobSpec{Template: pod},
	}
}

// checkSecondOperator installs a second operator, each with a namespace of its own. A run of the second waits for one of
// the first that loads the same etcd, and learns neither its name nor its namespace.
func checkSecondOperator(t *testing.T) {
	const second = "second-operator"
	ours, theirs := namespace(t, "first-tenant"), namespace(t, "second-tenant")
	t.Cleanup(func() {
		if err := suite.detached().upgradeOperator(suite.chart(), ""); err != nil {
			t.Error(err)
		}
	})
	if err := suite.upgradeOperator(suite.chart(), "", "namespaces={"+ours+"}"); err != nil {
		t.Fatal(err)
	}
	colon := strings.LastIndex(suite.image, ":")
	t.Cleanup(func() {
		if _, err := suite.detached().helm("uninstall", second, "--namespace", theirs, "--wait", "--timeout", "3m"); err != nil {
			t.Error(err)
		}
	})
	_, err := suite.helm("install", second, suite.chart(), "--namespace", theirs, "--set", "fullnameOverride="+second,
		"--set", "crds.install=false", "--set", "namespaces={"+theirs+"}",
		"--set-string", "image.repository="+suite.image[:colon], "--set-string", "image.tag="+suite.image[colon+1:], "--wait", "--timeout", "3m")
	if err != nil {
		t.Fatal(err)
	}
	holder, waiting := newEndless(ours, "run-of-the-first"), newPutIn(theirs, suite.side, "second-tenants-run", 300)
	for _, b := range []*v1alpha1.EtcdBenchmark{holder, waiting} {
		b.Spec.Target.ConcurrentRuns = v1alpha1.ConcurrentRunsQueue
	}
	holder = awaitMeasuring(t, create(t, holder))
	awaitQueued(t, create(t, waiting), v1alpha1.QueueStatus{WaitsFor: v1alpha1.QueueLock})
	if text := mustKubectl(t, "get", "eb", waiting.Name, "--namespace", theirs, "-o", "yaml"); strings.Contains(text, holder.Name) || strings.Contains(text, ours) {
		t.Errorf("the status of a run names one of another tenant:\n%s", text)
	}
	stop := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"stop":true}}`))
	if err := suite.client.Patch(suite.ctx, holder, stop); err != nil {
		t.Fatal(err)
	}
	waiting = awaitEnd(t, waiting)
	requireCompleted(t, waiting)
	requireAfter(t, waiting, mustGet(t, holder))
	requireOperator(t, waiting, second)
}

// requireOperator checks that the operator with this name has handled a run, by its log.
func requireOperator(t *testing.T, b *v1alpha1.EtcdBenchmark, name string) {
	t.Helper()
	var pods corev1.PodList
	if err := suite.client.List(suite.ctx, &pods, client.InNamespace(b.Namespace), client.MatchingLabels{"app.kubernetes.io/instance": name}); err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) != 1 {
		t.Fatalf("wanted one pod of %s, found %d", name, len(pods.Items))
	}
	if log := mustKubectl(t, "logs", pods.Items[0].Name, "--namespace", b.Namespace); !strings.Contains(log, b.Name) {
		t.Errorf("%s has not handled %s", name, b.Name)
	}
}
