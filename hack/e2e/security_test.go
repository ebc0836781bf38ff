//go:build e2e

package e2e

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/certificates"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

const (
	serverSecret   = "etcd-server-tls"
	clientSecret   = "etcd-client-tls"
	passwordSecret = "etcd-user"
)

// prepareSecured creates the certificates of the target that requires them.
func (e *environment) prepareSecured() error {
	var err error
	if e.authority, err = certificates.New("e2e etcd CA"); err != nil {
		return err
	}
	return e.secure(e.secured)
}

// secure creates the certificates of a target that requires them, and of its clients. The members' certificates cover
// only the names of their pods.
func (e *environment) secure(c *etcdCluster) error {
	c.secret = serverSecret
	c.flags = []string{
		"--cacert=" + serverCerts + "/" + plan.CAFile, "--cert=" + serverCerts + "/" + plan.CertFile,
		"--key=" + serverCerts + "/" + plan.KeyFile, "--endpoints=https://" + c.endpoint(0),
	}
	var names []string
	for i := range c.members {
		names = append(names, strings.TrimSuffix(c.endpoint(i), ":2379"))
	}
	server, err := issue(e.authority, certificates.Holder{Name: "etcd server", Hosts: append(names, "127.0.0.1")})
	if err != nil {
		return err
	}
	if err := e.createSecret(c.namespace, c.secret, server); err != nil {
		return err
	}
	user, err := issue(e.authority, certificates.Holder{Name: "benchmark"})
	if err != nil {
		return err
	}
	return e.createSecret(c.namespace, clientSecret, user)
}

// guardWithPassword creates a user of a target with access only to one prefix, a Secret with its password, and turns
// authentication on.
func (e *environment) guardWithPassword(c *etcdCluster, prefix string) error {
	for _, args := range [][]string{
		{"user", "add", "root:root"},
		{"user", "grant-role", "root", "root"},
		{"role", "add", "benchmark"},
		{"role", "grant-permission", "--prefix=true", "benchmark", "readwrite", prefix},
		{"user", "add", "bench:" + rightPassword},
		{"user", "grant-role", "bench", "benchmark"},
		{"auth", "enable"},
	} {
		if _, err := c.etcdctl(args...); err != nil {
			return err
		}
	}
	c.flags = []string{"--user=root:root"}
	return e.createSecret(c.namespace, passwordSecret, basicAuth("bench", rightPassword))
}

func basicAuth(username, password string) map[string][]byte {
	return map[string][]byte{
		corev1.BasicAuthUsernameKey: []byte(username),
		corev1.BasicAuthPasswordKey: []byte(password),
	}
}

// checkTLS loads, by the Service's name, a target that requires client certificates and whose own certificates cover
// only pod names.
func checkTLS(t *testing.T) {
	b := newPut(suite.secured, "tls", 3000)
	b.Spec.Target = v1alpha1.Target{
		Service: &v1alpha1.ServiceTarget{Name: etcdName},
		TLS:     &v1alpha1.TargetTLS{SecretName: clientSecret},
	}
	b.Spec.Load.Pods, b.Spec.Load.Connections = 2, 6
	suite.secured.counting.Lock()
	defer suite.secured.counting.Unlock()
	before := mustCounters(t, suite.secured)
	b = runToEnd(t, b)
	requireCompleted(t, b)
	requireMeasured(t, b, 3000)
	requireSameCounts(t, b, mustCounters(t, suite.secured).since(before))
	if got := len(b.Status.Target.Endpoints); got != 3 {
		t.Errorf("endpoints: wanted 3, found %v", b.Status.Target.Endpoints)
	}
}

// checkAuth loads a target with authentication as a user with access only to the default key prefix.
func checkAuth(t *testing.T) {
	b := newPut(suite.guarded, "auth", 3000)
	b.Spec.Target = v1alpha1.Target{
		Service: &v1alpha1.ServiceTarget{Name: etcdName},
		Auth:    &v1alpha1.TargetAuth{SecretName: passwordSecret},
	}
	b = runToEnd(t, b)
	requireCompleted(t, b)
	requireMeasured(t, b, 3000)
}
