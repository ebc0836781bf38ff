//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

const (
	release           = "etcd-benchmark-operator"
	operatorNamespace = "etcdbench-system"
	crdName           = "etcdbenchmarks.etcdbench.dev"
	// labelSuite marks the namespaces of the suite.
	labelSuite = "e2e.etcdbench.dev/suite"
)

var crdNames = []string{crdName, "etcdbenchmarksuites.etcdbench.dev", "etcdbenchmarkschedules.etcdbench.dev"}

func (e *environment) chart() string {
	return filepath.Join(e.root, "charts", "etcd-benchmark-operator")
}

// upgradeOperator installs or upgrades the release from a chart and waits until the Deployment has rolled out. Other
// values are the chart's defaults.
func (e *environment) upgradeOperator(chart, clientImage string, values ...string) error {
	colon := strings.LastIndex(e.image, ":")
	if colon < strings.LastIndex(e.image, "/") {
		return fmt.Errorf("image: wanted repository:tag, found %q", e.image)
	}
	args := []string{
		"upgrade", "--install", release, chart, "--namespace", operatorNamespace,
		"--set-string", "image.repository=" + e.image[:colon], "--set-string", "image.tag=" + e.image[colon+1:],
		"--set-string", "clientImage=" + clientImage, "--wait", "--timeout", "3m",
		"--set", "limits.memberImages={gcr.io/etcd-development/etcd:*,docker.io/library/zookeeper:*,docker.io/hashicorp/consul:*}",
	}
	for _, value := range values {
		args = append(args, "--set", value)
	}
	_, err := e.helm(args...)
	return err
}

func (e *environment) installOperator() error {
	e.installed = true
	err := e.upgradeOperator(e.chart(), "")
	if err == nil {
		return nil
	}
	// The cluster is taken down with what explains it.
	for _, args := range [][]string{
		{"describe", "nodes"},
		{"describe", "pods", "--namespace", operatorNamespace},
		{"logs", "--namespace", operatorNamespace, "deployment/" + release, "--tail=20"},
	} {
		out, failed := e.kubectl(args...)
		err = errors.Join(err, failed, errors.New(out))
	}
	return err
}

func (e *environment) uninstallOperator() error {
	_, err := e.helm("uninstall", release, "--namespace", operatorNamespace, "--wait", "--timeout", "5m")
	return err
}

// removeLeftovers removes the release and the namespaces of an earlier run of the suite, so that every run begins with
// an installation.
func (e *environment) removeLeftovers() error {
	if err := e.createNamespace(operatorNamespace, nil); client.IgnoreAlreadyExists(err) != nil {
		return err
	}
	out, err := e.helm("list", "--namespace", operatorNamespace, "--short")
	if err != nil {
		return err
	}
	if strings.Contains(out, release) {
		if !e.mayUninstall() {
			return fmt.Errorf("the release %s is installed in %s of a cluster that is not the project's own: uninstall it first", release, operatorNamespace)
		}
		if err := e.uninstallOperator(); err != nil {
			return err
		}
	}
	return e.deleteNamespaces()
}

// mayUninstall is false if others may need the operator.
func (e *environment) mayUninstall() bool { return e.ownCluster || e.installed }

func (e *environment) deleteNamespaces() error {
	if _, err := e.kubectl("delete", "namespace", "--selector", labelSuite, "--wait=false"); err != nil {
		return err
	}
	return waitFor(e.ctx, 3*time.Minute, "the suite's namespaces to be gone", func(ctx context.Context) error {
		var namespaces corev1.NamespaceList
		if err := e.client.List(ctx, &namespaces, client.HasLabels{labelSuite}); err != nil {
			return err
		}
		if n := len(namespaces.Items); n > 0 {
			return fmt.Errorf("%d are left, among them %s", n, namespaces.Items[0].Name)
		}
		return nil
	})
}

// createNamespace creates a namespace that enforces the restricted Pod
// Security Standard.
func (e *environment) createNamespace(name string, labels map[string]string) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		"pod-security.kubernetes.io/enforce": "restricted",
	}}}
	for k, v := range labels {
		ns.Labels[k] = v
	}
	return e.client.Create(e.ctx, ns)
}

// operatorPods returns all pods of the operator, including terminating ones.
func (e *environment) operatorPods(ctx context.Context) ([]corev1.Pod, error) {
	var deployment appsv1.Deployment
	key := client.ObjectKey{Namespace: operatorNamespace, Name: release}
	if err := e.client.Get(ctx, key, &deployment); err != nil {
		return nil, err
	}
	var pods corev1.PodList
	err := e.client.List(ctx, &pods, client.InNamespace(operatorNamespace), client.MatchingLabels(deployment.Spec.Selector.MatchLabels))
	return pods.Items, err
}

// operatorPod returns the running pod of the operator.
func (e *environment) operatorPod(ctx context.Context) (*corev1.Pod, error) {
	pods, err := e.operatorPods(ctx)
	if err != nil {
		return nil, err
	}
	for i := range pods {
		if pod := &pods[i]; pod.DeletionTimestamp.IsZero() && pod.Status.Phase == corev1.PodRunning {
			return pod, nil
		}
	}
	return nil, fmt.Errorf("wanted a running operator pod, found none among %d", len(pods))
}

// namespace creates a namespace for a test. A failed test writes a dump to bin/e2e; the namespace is deleted in either
// case.
func namespace(t *testing.T, purpose string) string {
	t.Helper()
	name := "e2e-" + purpose
	if err := suite.createNamespace(name, map[string]string{labelSuite: "test"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			dump(t, name)
		}
		deleteNamespace(t, name)
	})
	return name
}

// deleteNamespace deletes a namespace without waiting: the runs' finalizers need the operator, which the next tests use
// meanwhile.
func deleteNamespace(t *testing.T, name string) {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := suite.client.Delete(suite.detached().ctx, ns); client.IgnoreNotFound(err) != nil {
		t.Error(err)
	}
}

// deleted returns nil if an object is gone.
func deleted(ctx context.Context, b *v1alpha1.EtcdBenchmark) error {
	err := suite.client.Get(ctx, client.ObjectKeyFromObject(b), &v1alpha1.EtcdBenchmark{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		return fmt.Errorf("the EtcdBenchmark %s is still there", b.Name)
	}
	return err
}
