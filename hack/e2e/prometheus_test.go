//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/prometheustest"
)

// scrapeEvery is short, so that a short run suffices; rateInterval is what Grafana makes of it.
const (
	scrapeEvery  = time.Second
	rateInterval = "5s"
)

// checkPrometheus lets a Prometheus on the node scrape the operator and two runs, of which the second waits for the first,
// as the chart's monitors say. Then the queries of the dashboards about a run and about the operator return data.
// hack/verify/dashboards also has failed requests and schedules.
func checkPrometheus(t *testing.T) {
	ns := namespace(t, "prometheus")
	operator := watchOperator(t, ns)
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(operator.token), 0o600); err != nil {
		t.Fatal(err)
	}
	address := strings.TrimSuffix(strings.TrimPrefix(operator.url, "https://"), "/metrics")
	began := time.Now()
	server := prometheustest.Start(t, filepath.Join(suite.root, "bin", "tools", "prometheus"), scrapeEvery,
		prometheustest.ClientPods(podMonitor(t), suite.kubeconfig, true), prometheustest.Operator(operatorNamespace, release+"-metrics", address, token))
	runs := []*v1alpha1.EtcdBenchmark{newPutIn(ns, suite.side, "watched", 1), newPutIn(ns, suite.side, "next", 500)}
	runs[0].Spec.Load.Requests, runs[0].Spec.Load.DurationSeconds = nil, new(int32(15))
	for i, b := range runs {
		b.Spec.Target.ConcurrentRuns = v1alpha1.ConcurrentRunsQueue
		if runs[i] = create(t, b); i == 0 {
			awaitMeasuring(t, runs[0])
		}
	}
	for _, b := range runs {
		requireCompleted(t, awaitEnd(t, b))
	}
	variables := map[string]string{
		"__rate_interval": rateInterval, "run": "watched", "job": release + "-metrics", "namespace": ns,
	}
	eventually(t, time.Minute, "data for each query of the dashboards", func(ctx context.Context) error {
		return missingData(ctx, server, variables, began)
	})
}

// missingData returns an error for each query without data.
func missingData(ctx context.Context, server *prometheustest.Server, variables map[string]string, began time.Time) error {
	dashboards, err := prometheustest.Dashboards(filepath.Join(suite.chart(), "generated", "dashboards"))
	problems := []error{err}
	for _, d := range dashboards {
		if strings.Contains(d.File, "history") {
			continue
		}
		own := maps.Clone(variables)
		if strings.Contains(d.File, "operator") {
			own["namespace"] = operatorNamespace
		}
		for _, p := range d.Panels {
			// No request of these runs fails.
			if p.Title == "Errors" {
				continue
			}
			query := prometheustest.Fill(p.Query, own)
			found, err := server.Range(ctx, query, began, time.Now(), scrapeEvery)
			if problems = append(problems, err); !slices.ContainsFunc(found, hasNumber) {
				problems = append(problems, fmt.Errorf("%s, panel %q: no data for %s", d.File, p.Title, query))
			}
		}
	}
	return errors.Join(problems...)
}

func hasNumber(r prometheustest.Result) bool {
	return r.Histograms > 0 || slices.ContainsFunc(r.Values, func(v float64) bool { return !math.IsNaN(v) })
}

// podMonitor is the one of the chart. The cluster has no Prometheus operator that could read it.
func podMonitor(t *testing.T) (m prometheustest.Monitor) {
	t.Helper()
	out, err := suite.command(filepath.Join(suite.root, "bin", "tools", "helm"), "template", "any", suite.chart(), "--namespace="+operatorNamespace,
		"--set=metrics.podMonitor.enabled=true", "--show-only=templates/monitors.yaml")
	if err == nil {
		err = yaml.Unmarshal([]byte(out), &m)
	}
	if err != nil {
		t.Fatalf("rendering the chart: %v", err)
	}
	return m
}
