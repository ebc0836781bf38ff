//go:build prometheus

package alerts

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const root = "../../.."

// rulesFile writes the rules of the rendered chart into a folder, in the form that Prometheus reads.
func rulesFile(t *testing.T, folder string) (path string, alerts []string) {
	t.Helper()
	rendered := run(t, "helm", "template", "any", root+"/charts/etcd-benchmark-operator", "--namespace=etcdbench-system",
		"--set=metrics.prometheusRule.enabled=true,metrics.serviceMonitor.enabled=true", "--show-only=templates/prometheusrule.yaml")
	object := struct {
		Spec struct {
			Groups []struct {
				Name  string           `json:"name"`
				Rules []map[string]any `json:"rules"`
			} `json:"groups"`
		} `json:"spec"`
	}{}
	if err := yaml.Unmarshal([]byte(rendered), &object); err != nil {
		t.Fatal(err)
	}
	for _, g := range object.Spec.Groups {
		for _, rule := range g.Rules {
			alerts = append(alerts, rule["alert"].(string))
		}
	}
	data, err := yaml.Marshal(object.Spec)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(folder, "rules.yaml")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path, alerts
}

func run(t *testing.T, tool string, args ...string) string {
	t.Helper()
	path, err := filepath.Abs(root + "/bin/tools/" + tool)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(path, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", tool, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Each alert fires in the situation that it is for, and in no other.
func TestAlerts(t *testing.T) {
	folder := t.TempDir()
	path, alerts := rulesFile(t, folder)
	run(t, "promtool", "check", "rules", "--lint=all", "--lint-fatal", path)
	cases, err := os.ReadFile("testdata/cases.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "cases.yaml"), cases, 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, "promtool", "test", "rules", filepath.Join(folder, "cases.yaml"))
	for _, alert := range alerts {
		if !regexp.MustCompile(`alertname: ` + alert + `\s[^-]*exp_alerts:\n\s+- `).Match(cases) {
			t.Errorf("no case shows that %s fires", alert)
		}
	}
}

// Each alert has an advice, where its link leads to.
func TestRunbooks(t *testing.T) {
	path, alerts := rulesFile(t, t.TempDir())
	rules, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(root + "/docs/alerts.md")
	if err != nil {
		t.Fatal(err)
	}
	var headings []string
	for _, h := range regexp.MustCompile(`(?m)^## (\S+)$`).FindAllStringSubmatch(string(page), -1) {
		headings = append(headings, h[1])
	}
	if !slices.Equal(headings, alerts) {
		t.Errorf("docs/alerts.md has advice on %v, wanted %v", headings, alerts)
	}
	for _, alert := range alerts {
		if !strings.Contains(string(rules), "docs/alerts.md#"+strings.ToLower(alert)) {
			t.Errorf("%s has no link to its advice", alert)
		}
	}
}

// Without the ServiceMonitor, Prometheus does not know the operator, and an alert that misses it would always fire.
func TestAnOperatorThatIsNotScrapedIsNotMissed(t *testing.T) {
	rendered := run(t, "helm", "template", "any", root+"/charts/etcd-benchmark-operator", "--set=metrics.prometheusRule.enabled=true", "--show-only=templates/prometheusrule.yaml")
	if !strings.Contains(rendered, "EtcdBenchmarkTrendBroken") || strings.Contains(rendered, "EtcdBenchmarkOperatorDown") {
		t.Errorf("wanted the alerts on schedules, and none on an operator that is down, found:\n%s", rendered)
	}
}
