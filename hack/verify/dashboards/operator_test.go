//go:build prometheus

package dashboards

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/etcdbench/etcd-benchmark-operator/internal/freeport"
)

// operatorNamespace is where the chart is installed.
const operatorNamespace = "etcdbench-system"

// startOperator starts the manager and returns the address of its metrics.
func startOperator(t *testing.T, kubeconfig string) string {
	t.Helper()
	free, err := freeport.Addresses(2)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	command := exec.Command(program(t, "manager"), "--kubeconfig="+kubeconfig, "--client-image=none", "--metrics-bind-address="+free[0], "--health-probe-bind-address="+free[1])
	command.Stderr = &log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() { _ = command.Wait(); close(exited) }()
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		<-exited
		if t.Failed() {
			t.Logf("log of the operator:\n%s", log.String())
		}
	})
	await(t, "the operator to be ready", func(context.Context) error {
		response, err := http.Get("http://" + free[1] + "/readyz")
		if err == nil {
			err = response.Body.Close()
		}
		return err
	})
	return free[0]
}

// scraperToken returns a file with the token of a service account that may read the operator's metrics.
func scraperToken(t *testing.T) string {
	t.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: "prometheus"}}
	create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: operatorNamespace}})
	create(t, account)
	create(t, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "metrics-reader"}, Rules: []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}})
	create(t, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "metrics-reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: operatorNamespace, Name: account.Name}},
	})
	token := &authenticationv1.TokenRequest{}
	if err := cluster.api.SubResource("token").Create(t.Context(), account, token); err != nil {
		t.Fatal(err)
	}
	return written(t, "token", []byte(token.Status.Token))
}

// await polls until the condition holds.
func await(t *testing.T, what string, holds func(context.Context) error) {
	t.Helper()
	last := fmt.Errorf("it was not checked")
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, 4*time.Minute, true, func(ctx context.Context) (bool, error) {
		err := holds(ctx)
		// The last answer before the deadline is of interest.
		if ctx.Err() == nil {
			last = err
		}
		return err == nil, nil
	})
	if err != nil {
		t.Fatalf("waited for %s: %v", what, last)
	}
}

// kubeconfigFile is the kubeconfig of the API server's administrator.
func kubeconfigFile(t *testing.T) string {
	t.Helper()
	return written(t, "kubeconfig", cluster.kubeconfig)
}

// page is the text of a page of the documentation.
func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(root + "/docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
