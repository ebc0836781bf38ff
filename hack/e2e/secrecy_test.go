//go:build e2e

package e2e

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// Passwords that can be mistaken for nothing else, wherever they turn up.
const (
	rightPassword = "planted-right-8c41f7d2"
	wrongPassword = "planted-wrong-3b90e6aa"
)

// checkSecrecy looks for what the Secrets of earlier scenarios hold in
// everything that the API server stores but Secrets, and in every log.
func checkSecrecy(t *testing.T) {
	planted := plantedSecrets(t)
	for _, kind := range listedKinds(t) {
		requireNone(t, planted, "kubectl get "+kind+" -A", mustKubectl(t, "get", kind, "-A", "-o", "json"))
	}
	var pods corev1.PodList
	if err := suite.client.List(suite.ctx, &pods); err != nil {
		t.Fatal(err)
	}
	logs := 0
	for _, pod := range pods.Items {
		if pod.Namespace != operatorNamespace && !strings.HasPrefix(pod.Namespace, "e2e-") {
			continue
		}
		// A pod whose container has not started, or that goes meanwhile, has no log.
		log, err := suite.set.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{}).DoRaw(suite.ctx)
		if err == nil {
			logs++
			requireNone(t, planted, "the log of "+pod.Namespace+"/"+pod.Name, string(log))
		}
	}
	if logs < 10 {
		t.Errorf("wanted the logs of all pods of the suite, could read %d", logs)
	}
}

// plantedSecrets are texts that only Secrets may hold, by what they are.
func plantedSecrets(t *testing.T) map[string]string {
	t.Helper()
	planted := map[string]string{"the password": rightPassword, "the wrong password": wrongPassword}
	var secret corev1.Secret
	if err := suite.client.Get(suite.ctx, client.ObjectKey{Namespace: suite.secured.namespace, Name: clientSecret}, &secret); err != nil {
		t.Fatal(err)
	}
	// The second line of a PEM block is the first of what it encodes.
	lines := bytes.Split(secret.Data[plan.KeyFile], []byte("\n"))
	if len(lines) < 2 || len(lines[1]) < 40 {
		t.Fatalf("wanted a private key in %s", clientSecret)
	}
	planted["the private key"] = string(lines[1])
	for what, text := range planted {
		// Cut to whole groups of three bytes: the encoding of a part is then a part of the encoding.
		planted[what+" in base64"] = base64.StdEncoding.EncodeToString([]byte(text[:len(text)/3*3]))
	}
	return planted
}

// listedKinds are all kinds that can be listed, but Secrets.
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

func requireNone(t *testing.T, planted map[string]string, where, text string) {
	t.Helper()
	for what, secret := range planted {
		if strings.Contains(text, secret) {
			t.Errorf("%s shows %s", where, what)
		}
	}
}
