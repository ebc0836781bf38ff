//go:build prometheus

package dashboards

import (
	"context"
	"fmt"
	"math"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/prometheustest"
)

const (
	// scrapeEvery is short, so that short runs suffice; rateInterval is what Grafana makes of it.
	scrapeEvery  = time.Second
	rateInterval = "5s"
	service      = "etcd-benchmark-operator-metrics"
	// maxSeries is the limit of docs/prometheus.md for one client pod and one operation.
	maxSeries = 500
)

// TestQueries lets an operator run a few benchmarks while two servers of Prometheus scrape everything, one with and one
// without native histograms. Then each query of the dashboards and of the documentation returns data in both of them.
func TestQueries(t *testing.T) {
	kubeconfig := kubeconfigFile(t)
	etcd := etcdtest.Start(t, 1, nil, func(c *embed.Config) { c.MaxRequestBytes = maxRequestBytes })
	target := v1alpha1.Target{Endpoints: etcd.Endpoints}
	operator := startOperator(t, kubeconfig)
	token, monitor, began := scraperToken(t), podMonitor(t), time.Now()
	servers := map[string]*prometheustest.Server{}
	for name, native := range map[string]bool{"native histograms": true, "classic histograms": false} {
		servers[name] = prometheustest.Start(t, program(t, "tools", "prometheus"), scrapeEvery,
			prometheustest.ClientPods(monitor, kubeconfig, native), prometheustest.Operator(operatorNamespace, service, operator, token))
	}
	startNode(t)
	createRuns(t, target)
	createSchedule(t, target)
	create(t, &v1alpha1.EtcdBenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: runsNamespace, Name: "checked"}, Spec: suiteSpec(target)})
	awaitAll(t)
	for name, s := range servers {
		t.Run(name, func(t *testing.T) {
			c := checker{t, s, began}
			c.awaitScraped()
			c.checkDashboards()
			c.checkExamples()
			c.checkSeries()
		})
	}
}

// podMonitor is the one of the chart.
func podMonitor(t *testing.T) (m prometheustest.Monitor) {
	t.Helper()
	out, err := exec.Command(program(t, "tools", "helm"), "template", "any", root+"/charts/etcd-benchmark-operator", "--namespace="+operatorNamespace,
		"--set=metrics.podMonitor.enabled=true", "--show-only=templates/monitors.yaml").Output()
	if err == nil {
		err = yaml.Unmarshal(out, &m)
	}
	if err != nil {
		t.Fatalf("rendering the chart: %v", err)
	}
	return m
}

// awaitAll waits until both runs, the suite and a session of the schedule have ended.
func awaitAll(t *testing.T) {
	t.Helper()
	await(t, "the runs and suites to end", func(ctx context.Context) error {
		runs, suites := &v1alpha1.EtcdBenchmarkList{}, &v1alpha1.EtcdBenchmarkSuiteList{}
		for _, list := range []client.ObjectList{runs, suites} {
			if err := cluster.api.List(ctx, list); err != nil {
				return err
			}
		}
		for i := range runs.Items {
			if c := meta.FindStatusCondition(runs.Items[i].Status.Conditions, v1alpha1.ConditionFinished); c == nil || c.Status != metav1.ConditionTrue {
				return fmt.Errorf("%s: %+v", runs.Items[i].Name, runs.Items[i].Status)
			} else if c.Reason != v1alpha1.ReasonCompleted {
				t.Fatalf("%s ended as %s: %s", runs.Items[i].Name, c.Reason, c.Message)
			}
		}
		for i := range suites.Items {
			if !meta.IsStatusConditionTrue(suites.Items[i].Status.Conditions, v1alpha1.ConditionFinished) {
				return fmt.Errorf("%s has not ended", suites.Items[i].Name)
			}
		}
		if len(runs.Items) < 4 || len(suites.Items) < 2 {
			return fmt.Errorf("wanted 4 runs and 2 suites, found %d and %d", len(runs.Items), len(suites.Items))
		}
		return nil
	})
}

// checker runs queries on one server, over the whole time of the test.
type checker struct {
	t      *testing.T
	server *prometheustest.Server
	began  time.Time
}

// run returns the results of a query that have a number or a histogram.
func (c checker) run(query string) []prometheustest.Result {
	c.t.Helper()
	all, err := c.server.Range(c.t.Context(), query, c.began, time.Now(), scrapeEvery)
	if err != nil {
		c.t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(r prometheustest.Result) bool {
		return r.Histograms == 0 && !slices.ContainsFunc(r.Values, func(v float64) bool { return !math.IsNaN(v) })
	})
}

// awaitScraped waits for scrapes after the end of everything.
func (c checker) awaitScraped() {
	c.t.Helper()
	await(c.t, "the last scrape", func(context.Context) error {
		if len(c.run(`etcdbench_suite_passed == 1 and on () sum(etcdbench_runs{state="Finished"}) >= 4`)) == 0 {
			return fmt.Errorf("the operator's gauges do not show the end of the runs")
		}
		return nil
	})
}

// variables returns values for the variables of a dashboard, as Grafana offers them.
func (c checker) variables(d prometheustest.Dashboard) map[string]string {
	c.t.Helper()
	variables := map[string]string{"__rate_interval": rateInterval}
	for _, choice := range d.Choices {
		values, err := c.server.LabelValues(c.t.Context(), strings.TrimSuffix(prometheustest.Fill(choice.Selector, variables), "{}"), choice.Label, c.began, time.Now())
		if err != nil || len(values) == 0 {
			c.t.Fatalf("%s: the variable %s (%s of %s) has no value: %v", d.File, choice.Name, choice.Label, choice.Selector, err)
		}
		variables[choice.Name] = values[0]
		if slices.Contains(values, busyRun) {
			variables[choice.Name] = busyRun
		}
	}
	return variables
}

func (c checker) checkDashboards() {
	c.t.Helper()
	all, err := prometheustest.Dashboards(root + "/charts/etcd-benchmark-operator/generated/dashboards")
	if err != nil {
		c.t.Fatal(err)
	}
	for _, d := range all {
		variables := c.variables(d)
		for _, p := range d.Panels {
			query := prometheustest.Fill(p.Query, variables)
			if len(c.run(query)) == 0 {
				c.t.Errorf("%s, panel %q: no data for %s", d.File, p.Title, query)
			}
		}
	}
}

var promql = regexp.MustCompile("(?s)```promql\n(.*?)```")

// checkExamples runs the examples of docs/prometheus.md.
func (c checker) checkExamples() {
	c.t.Helper()
	examples := promql.FindAllStringSubmatch(page(c.t, "prometheus.md"), -1)
	if len(examples) < 3 {
		c.t.Errorf("docs/prometheus.md: wanted three examples, found %d", len(examples))
	}
	for _, example := range examples {
		if len(c.run(strings.ReplaceAll(example[1], "[1m]", "["+rateInterval+"]"))) == 0 {
			c.t.Errorf("docs/prometheus.md: no data for the example\n%s", example[1])
		}
	}
}

// checkSeries counts what one scrape of a client pod with one operation had at most.
func (c checker) checkSeries() {
	c.t.Helper()
	most := 0.0
	for _, r := range c.run(`scrape_samples_scraped{etcdbench_dev_run_name="` + busyRun + `"}`) {
		most = max(most, slices.Max(r.Values))
	}
	c.t.Logf("a scrape of a client pod has at most %v samples", most)
	if most < 50 || most > maxSeries {
		c.t.Errorf("a client pod with one operation has %v series, wanted at most %d", most, maxSeries)
	}
}
