//go:build e2e

package e2e

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/internal/certificates"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// issue returns a certificate as the content of a Secret.
func issue(a *certificates.Authority, h certificates.Holder) (map[string][]byte, error) {
	certificate, key, err := a.Issue(h)
	return map[string][]byte{plan.CAFile: a.Certificate(), plan.CertFile: certificate, plan.KeyFile: key}, err
}

// createSecret creates a Secret with this content, which must not appear anywhere else.
func (e *environment) createSecret(namespace, name string, data map[string][]byte) error {
	if err := createdSecrets.add(namespace+"/"+name, data); err != nil {
		return err
	}
	return e.client.Create(e.ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Data:       data,
	})
}
