package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/etcdbench/etcd-benchmark-operator/internal/apiservertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/certificates"
	"github.com/etcdbench/etcd-benchmark-operator/internal/freeport"
)

// serviceName is what the chart's ServiceMonitor expects in the certificate.
const serviceName = "etcd-benchmark-operator-metrics.etcdbench-system.svc"

// A scraper verifies the certificate of the metrics and authenticates with a token, as the chart's ServiceMonitor does.
func TestMetricsHaveTheCertificate(t *testing.T) {
	authority, err := certificates.New("test")
	if err != nil {
		t.Fatal(err)
	}
	folder := certificateFor(t, authority, serviceName)
	status := apiservertest.Run("../..", func(_ *envtest.Environment, config *rest.Config) int {
		address, profiles, stop := served(t, config, folder)
		defer stop()
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority.Pool(), ServerName: serviceName}}
		defer transport.CloseIdleConnections()
		scraper := &http.Client{Transport: transport}
		token, status, body := scraperToken(t, config), 0, ""
		err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			status, body, err = scraped(ctx, scraper, address, token)
			return status == http.StatusOK, nil
		})
		if err != nil || !strings.Contains(body, "rest_client_requests_total") {
			t.Errorf("scraping with a token: %d, %v, %s", status, err, body)
		}
		if status, _, err := scraped(t.Context(), scraper, address, ""); err != nil || status != http.StatusUnauthorized {
			t.Errorf("scraping without a token: %d, %v, wanted 401", status, err)
		}
		if response, err := http.Get("http://" + profiles + "/debug/pprof/cmdline"); err != nil {
			t.Error(err)
		} else if response.Body.Close(); response.StatusCode != http.StatusOK {
			t.Errorf("wanted the profiles at their own address, found %s", response.Status)
		}
		return 0
	})
	if status != 0 {
		t.Error("the API server did not start")
	}
}

// Without the certificate that it should have, the manager does not start with one of its own.
func TestAMissingCertificateIsRefused(t *testing.T) {
	_, _, err := newManager(&rest.Config{}, options{metricsCertificate: t.TempDir()}, scope{})
	if err == nil || !strings.Contains(err.Error(), "--metrics-certificate: wanted tls.crt and tls.key") {
		t.Errorf("wanted an error about the certificate, found %v", err)
	}
}

func certificateFor(t *testing.T, authority *certificates.Authority, host string) (folder string) {
	t.Helper()
	certificate, key, err := authority.Issue(certificates.Holder{Name: "metrics", Hosts: []string{host}})
	if err != nil {
		t.Fatal(err)
	}
	folder = t.TempDir()
	for name, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// served starts a manager and returns the addresses of its metrics and profiles, and what stops it.
func served(t *testing.T, config *rest.Config, folder string) (address, profiles string, stop func()) {
	t.Helper()
	free, err := freeport.Addresses(2)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := newManager(config, options{clientImage: "none", metricsAddress: free[0], metricsCertificate: folder, probeAddress: "0", pprofAddress: free[1], workers: 1}, scope{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	return free[0], free[1], func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the manager: %v", err)
		}
	}
}

// scraperToken is a token of a service account that may get /metrics.
func scraperToken(t *testing.T, config *rest.Config) string {
	t.Helper()
	set, name, ctx := kubernetes.NewForConfigOrDie(config), metav1.ObjectMeta{Name: "scraper"}, t.Context()
	_, err := set.CoreV1().ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: name}, metav1.CreateOptions{})
	if err == nil {
		_, err = set.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{
			ObjectMeta: name, Rules: []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
		}, metav1.CreateOptions{})
	}
	if err == nil {
		_, err = set.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: name, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name.Name},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "default", Name: name.Name}},
		}, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	token, err := set.CoreV1().ServiceAccounts("default").CreateToken(ctx, name.Name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return token.Status.Token
}

func scraped(ctx context.Context, scraper *http.Client, address, token string) (status int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("https://%s/metrics", address), nil)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := scraper.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}
