//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// footprint is the resource usage of a process.
type footprint struct {
	Goroutines, OpenFiles float64
	// HeapBytes were in use at the last garbage collection.
	HeapBytes float64

	// collections and started identify readings.
	collections, started float64
}

// leaked returns an error if the increase is more than the runs since before explain.
func (f footprint) leaked(before footprint) error {
	var all []error
	for _, grown := range []struct {
		what     string
		by, most float64
	}{
		{"goroutines", f.Goroutines - before.Goroutines, leakGoroutines},
		{"open files", f.OpenFiles - before.OpenFiles, leakFiles},
		{"heap bytes", f.HeapBytes - before.HeapBytes, leakBytes},
	} {
		if grown.by > grown.most {
			all = append(all, fmt.Errorf("%.0f more %s than before, wanted at most %.0f", grown.by, grown.what, grown.most))
		}
	}
	if f.started != before.started {
		all = append(all, errors.New("the operator was restarted meanwhile"))
	}
	return errors.Join(all...)
}

// watchedOperator is the operator with access to its metrics.
type watchedOperator struct {
	url, token string
	client     *http.Client
	// process is the operator's process on the node.
	process int
}

// watchOperator gives a service account of the namespace the chart's right to read the operator's metrics.
func watchOperator(t *testing.T, ns string) watchedOperator {
	t.Helper()
	const name = "e2e-scraper"
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: release + "-metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: ns, Name: name}},
	}
	if err := errors.Join(suite.client.Create(suite.ctx, account), suite.client.Create(suite.ctx, binding)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := suite.client.Delete(suite.detached().ctx, binding); err != nil {
			t.Error(err)
		}
	})
	token, err := suite.set.CoreV1().ServiceAccounts(ns).CreateToken(suite.ctx, name, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod, err := suite.operatorPod(suite.ctx)
	if err != nil {
		t.Fatal(err)
	}
	process, err := operatorProcess(suite.ctx)
	if err != nil {
		t.Fatal(err)
	}
	// The operator signs its certificate itself; the connection stays on this machine.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(transport.CloseIdleConnections)
	return watchedOperator{
		url:     "https://" + net.JoinHostPort(pod.Status.PodIP, "8443") + "/metrics",
		token:   token.Status.Token,
		client:  &http.Client{Transport: transport, Timeout: 10 * time.Second},
		process: process,
	}
}

// atRest returns the operator's footprint once its kept connections to client pods are closed and garbage was collected
// after that.
func (o watchedOperator) atRest(t *testing.T) footprint {
	t.Helper()
	eventually(t, 2*time.Minute, "the operator's connections to client pods to be closed", func(context.Context) error { return o.connected() })
	begin, err := o.read(suite.ctx)
	if err != nil {
		t.Fatal(err)
	}
	now := begin
	// The first collection that ends may have begun earlier. The runtime collects at least every two minutes, and
	// sooner because of the garbage of the readings.
	eventually(t, 5*time.Minute, "garbage to be collected twice", func(ctx context.Context) error {
		if now, err = o.read(ctx); err != nil {
			return err
		}
		if n := now.collections - begin.collections; n < 2 {
			return fmt.Errorf("garbage was collected %.0f times", n)
		}
		return nil
	})
	return now
}

// connected returns an error if the process has a connection to a client pod.
func (o watchedOperator) connected() error {
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(o.process) + "/net/" + table)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			// The third field is the remote address. The fourth is the state; 01 is an open connection.
			fields := strings.Fields(line)
			if len(fields) > 3 && fields[3] == "01" && strings.HasSuffix(fields[2], fmt.Sprintf(":%04X", plan.MetricsPort)) {
				return fmt.Errorf("the operator is connected to %s", fields[2])
			}
		}
	}
	return nil
}

func (o watchedOperator) read(ctx context.Context) (footprint, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, o.url, nil)
	if err != nil {
		return footprint{}, err
	}
	request.Header.Set("Authorization", "Bearer "+o.token)
	response, err := o.client.Do(request)
	if err != nil {
		return footprint{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: wanted status 200, found %s: %s", o.url, response.Status, text)
	}
	if err != nil {
		return footprint{}, err
	}
	return footprintOf(text)
}

func footprintOf(text []byte) (f footprint, err error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return f, err
	}
	for name, value := range map[string]*float64{
		"go_goroutines": &f.Goroutines, "process_open_fds": &f.OpenFiles, "go_gc_heap_live_bytes": &f.HeapBytes,
		"go_gc_cycles_total_gc_cycles_total": &f.collections, "process_start_time_seconds": &f.started,
	} {
		metrics := families[name].GetMetric()
		if len(metrics) != 1 {
			return f, fmt.Errorf("%s: wanted one metric, found %d", name, len(metrics))
		}
		*value = metrics[0].GetGauge().GetValue() + metrics[0].GetCounter().GetValue()
	}
	return f, nil
}
