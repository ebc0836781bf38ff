package gitops

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	lua "github.com/yuin/gopher-lua"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// The scripts run in the interpreter of Argo CD, as they are in the ConfigMap that users apply.
func TestHealthForArgoCD(t *testing.T) {
	scripts := argocdConfig(t)
	for name, tc := range situations() {
		t.Run(name, func(t *testing.T) { checkHealth(t, scripts, unstructuredOf(t, tc.object), tc.argo) })
	}
}

func TestHealthOfSchedulesForArgoCD(t *testing.T) {
	scripts := argocdConfig(t)
	condition := func(kind string, status metav1.ConditionStatus) []metav1.Condition {
		return []metav1.Condition{{Type: kind, Status: status, Reason: "Any", Message: "of the test"}}
	}
	seen := v1alpha1.EtcdBenchmarkScheduleStatus{ObservedGeneration: 1}
	tests := map[string]struct {
		suspend bool
		status  func(*v1alpha1.EtcdBenchmarkScheduleStatus)
		want    string
	}{
		"new":             {false, func(s *v1alpha1.EtcdBenchmarkScheduleStatus) { *s = v1alpha1.EtcdBenchmarkScheduleStatus{} }, "Progressing"},
		"waiting":         {false, func(*v1alpha1.EtcdBenchmarkScheduleStatus) {}, "Healthy"},
		"running":         {false, func(s *v1alpha1.EtcdBenchmarkScheduleStatus) { s.Active = "nightly-1" }, "Healthy"},
		"suspended":       {true, func(*v1alpha1.EtcdBenchmarkScheduleStatus) {}, "Suspended"},
		"last passed":     {false, func(s *v1alpha1.EtcdBenchmarkScheduleStatus) { s.LastPassed = metav1.ConditionTrue }, "Healthy"},
		"last not passed": {false, func(s *v1alpha1.EtcdBenchmarkScheduleStatus) { s.LastPassed = metav1.ConditionFalse }, "Degraded"},
		"last not known":  {false, func(s *v1alpha1.EtcdBenchmarkScheduleStatus) { s.LastPassed = metav1.ConditionUnknown }, "Healthy"},
		"stalled": {false, func(s *v1alpha1.EtcdBenchmarkScheduleStatus) {
			s.Conditions = condition(v1alpha1.ConditionStalled, metav1.ConditionTrue)
		}, "Degraded"},
		"broken": {false, func(s *v1alpha1.EtcdBenchmarkScheduleStatus) {
			s.Conditions = condition(v1alpha1.ConditionTrendBroken, metav1.ConditionTrue)
		}, "Degraded"},
		"not broken": {false, func(s *v1alpha1.EtcdBenchmarkScheduleStatus) {
			s.Conditions = condition(v1alpha1.ConditionTrendBroken, metav1.ConditionFalse)
		}, "Healthy"},
		"suspicious, once": {false, func(s *v1alpha1.EtcdBenchmarkScheduleStatus) {
			s.Conditions = condition(v1alpha1.ConditionSuspect, metav1.ConditionTrue)
		}, "Healthy"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			sch := &v1alpha1.EtcdBenchmarkSchedule{Spec: v1alpha1.EtcdBenchmarkScheduleSpec{Suspend: tc.suspend}, Status: seen}
			tc.status(&sch.Status)
			checkHealth(t, scripts, unstructuredOf(t, sch), tc.want)
		})
	}
}

// argocdConfig returns the data of the ConfigMap that kustomize makes.
func argocdConfig(t *testing.T) map[string]string {
	t.Helper()
	out, err := exec.Command(filepath.Join(root, "bin", "tools", "kustomize"), "build", root+"/config/gitops/argocd").Output()
	if err != nil {
		t.Fatalf("kustomize (`make tools-kustomize` builds it): %v", err)
	}
	config := &corev1.ConfigMap{}
	if err := yaml.UnmarshalStrict(out, config); err != nil {
		t.Fatal(err)
	}
	if config.Name != "argocd-cm" || config.Labels["app.kubernetes.io/part-of"] != "argocd" {
		t.Errorf("Argo CD does not read the ConfigMap %s with the labels %v", config.Name, config.Labels)
	}
	return config.Data
}

func checkHealth(t *testing.T, scripts map[string]string, o *unstructured.Unstructured, want string) {
	t.Helper()
	script := scripts["resource.customizations.health."+o.GroupVersionKind().Group+"_"+o.GetKind()]
	if script == "" {
		t.Fatalf("no health check for %s", o.GetKind())
	}
	// Argo CD's default: only these libraries.
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	for _, open := range []lua.LGFunction{lua.OpenPackage, lua.OpenBase, lua.OpenTable} {
		l.Push(l.NewFunction(open))
		l.Call(0, 0)
	}
	l.SetGlobal("obj", luaOf(l, o.Object))
	if err := l.DoString(script); err != nil {
		t.Fatal(err)
	}
	health, ok := l.Get(-1).(*lua.LTable)
	if !ok {
		t.Fatalf("wanted a table, found %v", l.Get(-1))
	}
	if got := health.RawGetString("status").String(); got != want {
		t.Errorf("Argo CD says %s (%s), wanted %s", got, health.RawGetString("message"), want)
	}
	if message := health.RawGetString("message").String(); len(message) < 8 || strings.Contains(message, "nil") {
		t.Errorf("wanted a message, found %q", message)
	}
}

// luaOf is the value of an object's field in Lua.
func luaOf(l *lua.LState, value any) lua.LValue {
	switch v := value.(type) {
	case string:
		return lua.LString(v)
	case bool:
		return lua.LBool(v)
	case int64:
		return lua.LNumber(v)
	case float64:
		return lua.LNumber(v)
	case map[string]any:
		table := l.NewTable()
		for key, item := range v {
			table.RawSetString(key, luaOf(l, item))
		}
		return table
	case []any:
		table := l.NewTable()
		for _, item := range v {
			table.Append(luaOf(l, item))
		}
		return table
	}
	return lua.LNil
}

// The sample is a hook, and it keeps its run until the next sync.
func TestPostSyncSample(t *testing.T) {
	b := &v1alpha1.EtcdBenchmark{}
	data, err := os.ReadFile(root + "/config/gitops/argocd/postsync.yaml")
	if err == nil {
		err = yaml.UnmarshalStrict(data, b)
	}
	if err != nil {
		t.Fatal(err)
	}
	if b.Annotations["argocd.argoproj.io/hook"] != "PostSync" || b.Annotations["argocd.argoproj.io/hook-delete-policy"] != "BeforeHookCreation" {
		t.Errorf("the annotations are %v", b.Annotations)
	}
	if b.Spec.TTLSecondsAfterFinished != nil || len(b.Spec.Objectives) == 0 {
		t.Error("wanted an objective, and no ttlSecondsAfterFinished")
	}
}
