//go:build e2e

package e2e

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/internal/certificates"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// Passwords that cannot be confused with other text.
const (
	rightPassword = "createdSecrets-right-8c41f7d2"
	wrongPassword = "createdSecrets-wrong-3b90e6aa"
)

// createdSecrets are the contents of all Secrets that the suite has created.
var createdSecrets secretTexts

// secretTexts are texts that only Secrets may contain, by description.
type secretTexts struct {
	mu    sync.Mutex
	texts map[string]string
}

// add takes the password and the private key of a Secret, if it has them.
func (p *secretTexts) add(secret string, data map[string][]byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.texts == nil {
		p.texts = map[string]string{}
	}
	if password := data[plan.PasswordFile]; len(password) > 0 {
		p.plant("the password of "+secret, string(password))
	}
	key, found := data[plan.KeyFile]
	if !found {
		return nil
	}
	// The second line of a PEM block is the first one of its data.
	lines := bytes.Split(key, []byte("\n"))
	if len(lines) < 2 || len(lines[1]) < 40 {
		return fmt.Errorf("%s: wanted a private key in %s, found %d lines", secret, plan.KeyFile, len(lines))
	}
	p.plant("the private key of "+secret, string(lines[1]))
	return nil
}

func (p *secretTexts) plant(what, text string) {
	p.texts[what] = text
	// Cut to whole groups of three bytes: then the encoding of a part is a part of the encoding.
	p.texts[what+" in base64"] = base64.StdEncoding.EncodeToString([]byte(text[:len(text)/3*3]))
}

// requireNone requires that a text contains none of the secrets.
func (p *secretTexts) requireNone(t *testing.T, where, text string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.texts) == 0 {
		t.Fatal("wanted Secrets to search for, found none")
	}
	for what, secret := range p.texts {
		if strings.Contains(text, secret) {
			t.Errorf("%s contains %s", where, what)
		}
	}
}

// checkSecrecy searches for the secrets of earlier scenarios in everything that the API server stores, except Secrets,
// and in every log.
func checkSecrecy(t *testing.T) {
	for _, kind := range listedKinds(t) {
		createdSecrets.requireNone(t, "kubectl get "+kind+" -A", mustKubectl(t, "get", kind, "-A", "-o", "json"))
	}
	var namespaces corev1.NamespaceList
	if err := suite.client.List(suite.ctx, &namespaces); err != nil {
		t.Fatal(err)
	}
	logs := 0
	for _, ns := range namespaces.Items {
		if ns.Name == operatorNamespace || strings.HasPrefix(ns.Name, "e2e-") {
			logs += requireSecretLogs(t, ns.Name)
		}
	}
	if logs < 10 {
		t.Errorf("wanted the logs of all pods of the suite, could read %d", logs)
	}
}

// requireSecrecyIn is checkSecrecy for the objects of a run's namespace, before these are deleted.
func requireSecrecyIn(t *testing.T, ns string) {
	t.Helper()
	const kinds = "etcdbenchmarks,jobs,pods,configmaps,events"
	createdSecrets.requireNone(t, "kubectl get "+kinds+" -n "+ns, mustKubectl(t, "get", kinds, "-n", ns, "-o", "json"))
	requireSecretLogs(t, ns)
}

// requireSecretLogs searches the logs of a namespace's pods, and returns their number.
func requireSecretLogs(t *testing.T, ns string) (logs int) {
	t.Helper()
	var pods corev1.PodList
	if err := suite.client.List(suite.ctx, &pods, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		// A pod whose container has not started, or that is deleted meanwhile, has no log.
		log, err := suite.set.CoreV1().Pods(ns).GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(suite.ctx)
		if err == nil {
			logs++
			createdSecrets.requireNone(t, "the log of "+ns+"/"+pod.Name, string(log))
		}
	}
	return logs
}

// listedKinds are all kinds that can be listed, except Secrets.
func listedKinds(t *testing.T) []string {
	t.Helper()
	lists, err := suite.set.Discovery().ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, list := range lists {
		for _, resource := range list.APIResources {
			if resource.Name != "secrets" && strings.Contains(fmt.Sprint(resource.Verbs), "list") {
				kinds = append(kinds, qualified(resource, list.GroupVersion))
			}
		}
	}
	return kinds
}

func qualified(resource metav1.APIResource, groupVersion string) string {
	group, version, found := strings.Cut(groupVersion, "/")
	if !found {
		return resource.Name
	}
	return resource.Name + "." + version + "." + group
}

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
