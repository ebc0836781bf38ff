package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// nightly creates the sample of a schedule.
func nightly(t *testing.T, namespace string) *v1alpha1.EtcdBenchmarkSchedule {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "config", "samples", "schedule_nightly.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s := &v1alpha1.EtcdBenchmarkSchedule{}
	if err := yaml.UnmarshalStrict(data, s); err != nil {
		t.Fatal(err)
	}
	s.Namespace = namespace
	if err := apiServer.client.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return s
}

// cellsOf returns the cells of the row that begins with a name.
func cellsOf(t *testing.T, table, name string) []string {
	t.Helper()
	for line := range strings.Lines(table) {
		cells := strings.FieldsFunc(strings.ReplaceAll(strings.TrimSpace(line), "   ", "\t"), func(r rune) bool { return r == '\t' })
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if i := slices.Index(cells, name); i >= 0 {
			return cells[i:]
		}
	}
	t.Errorf("no row has %s:\n%s", name, table)
	return nil
}

func TestList(t *testing.T) {
	run := createdRun(t)
	key := client.ObjectKeyFromObject(run)
	operate(t, key, func(s *v1alpha1.EtcdBenchmarkStatus) {
		stage(v1alpha1.ReasonCompleted, metav1.ConditionTrue)(s)
		s.Conditions = append(s.Conditions, metav1.Condition{Type: v1alpha1.ConditionPassed, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonObjectivesMissed, LastTransitionTime: metav1.Now()})
		s.Display = &v1alpha1.Display{Target: "service etcd", Throughput: "48,123/s", P99: "25.1ms"}
	})
	suiteKey := client.ObjectKey{Namespace: key.Namespace, Name: "small"}
	call(smallSuite, "run", "-f", "-", "-n", key.Namespace, "--timeout", "1ms").wantStatus(t, exitUnknown)
	operateSuite(t, suiteKey, starts)
	s := nightly(t, key.Namespace)

	c := call("", "list", "-n", key.Namespace)
	c.wantStatus(t, exitDone)
	if got := cellsOf(t, c.out.String(), "run/puts"); len(got) != 8 || !slices.Equal(got[:7], []string{"run/puts", "Completed", "False", "Put", "service etcd", "48,123/s", "25.1ms"}) {
		t.Errorf("got %q", got)
	}
	if got := cellsOf(t, c.out.String(), "suite/small"); len(got) != 8 || got[1] != "Running" || got[2] != "–" || got[4] != "etcd" {
		t.Errorf("got %q", got)
	}
	if got := cellsOf(t, c.out.String(), "schedule/"+s.Name); len(got) != 8 || got[1] != "Waiting" || got[3] != s.Spec.Schedule {
		t.Errorf("got %q", got)
	}
}

// A list of names is made of arguments that the other commands take, and only of the kinds that were named.
func TestListNames(t *testing.T) {
	run := createdRun(t)
	nightly(t, run.Namespace)
	c := call("", "list", "runs", "-n", run.Namespace, "-o", "name")
	c.wantStatus(t, exitDone)
	if c.out.String() != "run/puts\n" {
		t.Errorf("got %q", c.out)
	}
	all := call("", "list", "-A", "-o", "name")
	all.wantStatus(t, exitDone)
	if !strings.Contains(all.out.String(), "schedule/") || !strings.Contains(all.out.String(), "run/puts\n") {
		t.Errorf("got\n%s", all.out)
	}
	table := call("", "list", "run", "-A")
	table.wantStatus(t, exitDone)
	if !strings.HasPrefix(table.out.String(), "NAMESPACE") || !strings.Contains(table.out.String(), run.Namespace) || strings.Contains(table.out.String(), "schedule/") {
		t.Errorf("got\n%s", table.out)
	}
}

// The lists for programs are those of kubectl get.
func TestListForPrograms(t *testing.T) {
	run := createdRun(t)
	for _, form := range []string{"json", "yaml"} {
		c := call("", "list", "-n", run.Namespace, "-o", form)
		c.wantStatus(t, exitDone)
		if json.Valid([]byte(c.out.String())) != (form == "json") {
			t.Errorf("wanted %s, got\n%s", form, c.out)
		}
		data, err := yaml.YAMLToJSON([]byte(c.out.String()))
		if err != nil {
			t.Fatal(err)
		}
		var list v1alpha1.EtcdBenchmarkList
		if err := json.Unmarshal(data, &list); err != nil {
			t.Fatal(err)
		}
		if list.Kind != "List" || len(list.Items) != 1 || list.Items[0].Kind != "EtcdBenchmark" || list.Items[0].UID != run.UID || len(list.Items[0].ManagedFields) > 0 {
			t.Errorf("%s: got\n%s", form, c.out)
		}
	}
}

func TestListOfNothing(t *testing.T) {
	ns := namespace(t)
	c := call("", "list", "-n", ns)
	c.wantStatus(t, exitDone)
	if c.out.String() != "" || !strings.Contains(c.err.String(), "Found no runs, suites or schedules in namespace "+ns) {
		t.Errorf("got %q and %q", c.out, c.err)
	}
	// A program gets a list without entries.
	if c = call("", "list", "-n", ns, "-o", "json"); c.end(t) != exitDone || !strings.Contains(c.out.String(), `"items": []`) {
		t.Errorf("got %q and %q", c.out, c.err)
	}
	for _, args := range [][]string{{"list", "rums"}, {"list", "-o", "xml"}} {
		c := call("", append(args, "-n", ns)...)
		c.wantStatus(t, exitFailed)
		if !strings.Contains(c.err.String(), "wanted") {
			t.Errorf("%v: got %s", args, c.err)
		}
	}
}
