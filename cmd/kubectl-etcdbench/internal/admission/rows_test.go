package admission

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
	"github.com/etcdbench/etcd-benchmark-operator/config/crd"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
)

// lake and carrier are a store and a transport that no row and no rule lists. The schema of the tests has them.
const (
	lake    spec.Datastore = "Lake"
	carrier spec.Transport = "Carrier"
)

func withLakeAndCarrier(t *testing.T) *Schema[v1alpha1.EtcdBenchmark] {
	t.Helper()
	definition := crd.EtcdBenchmarks
	for known, more := range map[string]string{string(spec.Kine): string(lake), string(spec.TransportFast): string(carrier)} {
		item := regexp.MustCompile(`(?m)^( *)- ` + known + `$`)
		definition = item.ReplaceAll(definition, fmt.Appendf(nil, "${1}- %s\n${1}- %s", known, more))
	}
	props, err := manifest.ReadSchema(definition)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSchema[v1alpha1.EtcdBenchmark](manifest.Kind, props)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// value is a value of a setting in a manifest, with what the rows say about it.
type value struct {
	name string
	// edits are paths below spec, in dots, with their new values as YAML. Empty YAML removes the value.
	edits map[string]string
	// listed are the conditions of a store's row.
	listed func(d spec.Datastore, row spec.Store) []condition
}

// condition is true if the row of a store or a transport lists a value. Otherwise the rules refuse the field, and the plan
// names its own.
type condition struct {
	field, plan string
	ok          bool
}

// simple is a value that is listed by one condition.
func simple(name, field, plan string, listed func(spec.Store) bool, edits ...string) value {
	return value{name, pairs(edits), func(_ spec.Datastore, row spec.Store) []condition {
		return []condition{{field, plan, listed(row)}}
	}}
}

func pairs(words []string) map[string]string {
	all := map[string]string{}
	for pair := range slices.Chunk(words, 2) {
		all[pair[0]] = pair[1]
	}
	return all
}

// bases has the workload of a good run on each store.
var bases = map[spec.Datastore]string{
	spec.Etcd: `{type: Put, put: {}}`, spec.Kine: `{type: Kubernetes, kubernetes: {profile: Small}}`, spec.ZooKeeper: `{type: Put, put: {}}`, spec.Consul: `{type: Put, put: {}}`, spec.Disk: `{type: Append, append: {}}`, lake: `{type: Put, put: {}}`,
}

// operations has an operation of each base.
var operations = map[spec.Datastore]string{spec.Etcd: "Put", spec.Kine: "OptimisticPut", spec.ZooKeeper: "Put", spec.Consul: "Put", spec.Disk: "Append", lake: "Put"}

// consistencyOf is a consistency of reads that the store can be asked for, and the default of others.
func consistencyOf(d spec.Datastore) spec.Consistency {
	if row, _ := d.Store(); len(row.Consistencies) > 0 {
		return row.Consistencies[0]
	}
	return spec.Linearizable
}

func manifestOf(t *testing.T, d spec.Datastore, edits map[string]string) *unstructured.Unstructured {
	t.Helper()
	u := object(t, bare)
	set := func(path, text string) {
		fields := append([]string{"spec"}, strings.Split(path, ".")...)
		if text == "" {
			unstructured.RemoveNestedField(u.Object, fields...)
			return
		}
		var v any
		text = strings.NewReplacer("OPERATION", operations[d], "CONSISTENCY", string(consistencyOf(d))).Replace(text)
		if err := errors.Join(yaml.Unmarshal([]byte(text), &v), unstructured.SetNestedField(u.Object, whole(v), fields...)); err != nil {
			t.Fatal(err)
		}
	}
	set("target.datastore", string(d))
	if row, _ := d.Store(); row.Folder {
		set("target.endpoints", "")
		set("target.disk", "{}")
	}
	set("workload", bases[d])
	set("load", `{requests: 100, rate: {perSecond: 100}}`)
	for _, path := range slices.Sorted(maps.Keys(edits)) {
		set(path, edits[path])
	}
	return u
}

// whole converts the numbers of YAML to those of objects.
func whole(v any) any {
	switch v := v.(type) {
	case float64:
		return int64(v)
	case map[string]any:
		for k := range v {
			v[k] = whole(v[k])
		}
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	}
	return v
}

// The rows of stores and transports, the rules of admission, and the checks of plans accept the same values. All refuse
// every value on a store, and over a transport, that no row lists.
func TestRowsRulesAndPlansAgree(t *testing.T) {
	s := withLakeAndCarrier(t)
	for _, d := range append(spec.Datastores(), lake) {
		row, _ := d.Store()
		for _, v := range valuesOf(t, s) {
			t.Run(string(d)+"/"+v.name, func(t *testing.T) {
				var fields, inPlan []string
				for _, c := range v.listed(d, row) {
					if !c.ok {
						fields, inPlan = append(fields, c.field), append(inPlan, c.plan)
					}
				}
				u := manifestOf(t, d, v.edits)
				refused := refusedFields(t, s, u)
				if d == lake {
					// The base of the manifest is refused, too.
					expected := slices.Clone(fields)
					refused = slices.DeleteFunc(refused, func(field string) bool {
						i := slices.Index(expected, field)
						expected = slices.Delete(expected, max(i, 0), i+1)
						return i < 0
					})
				}
				slices.Sort(fields)
				if !slices.Equal(fields, refused) {
					t.Errorf("the rows refuse %v, and the rules %v", fields, refused)
				}
				err := planned(t, s, u)
				if (err != nil) != (len(fields) > 0 || d == lake) {
					t.Errorf("the rows refuse %v, and the plan has the error: %v", fields, err)
				}
				for _, name := range inPlan {
					if !strings.Contains(fmt.Sprint(err), "plan: "+name) {
						t.Errorf("wanted an error of the plan that names %s, got: %v", name, err)
					}
				}
			})
		}
	}
}

// refusedFields returns the fields that the API server refuses, sorted: one for each rule.
func refusedFields(t *testing.T, s *Schema[v1alpha1.EtcdBenchmark], u *unstructured.Unstructured) (fields []string) {
	t.Helper()
	_, err := s.Create(u, time.Now())
	if err == nil {
		return nil
	}
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || status.Status().Details == nil {
		t.Fatal(err)
	}
	for _, cause := range status.Status().Details.Causes {
		fields = append(fields, cause.Field)
		if strings.Contains(cause.Message, "failed rule") || strings.Contains(cause.Message, "no such key") {
			t.Errorf("a rule has no message: %s", cause.Message)
		}
	}
	slices.Sort(fields)
	return fields
}

// planned returns the error of the plan of an object that has its defaults, and that no rule has checked.
func planned(t *testing.T, s *Schema[v1alpha1.EtcdBenchmark], u *unstructured.Unstructured) error {
	t.Helper()
	u, run := u.DeepCopy(), &v1alpha1.EtcdBenchmark{}
	defaulting.Default(u.Object, s.structural)
	stamp(u, time.Now())
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, run); err != nil {
		t.Fatal(err)
	}
	_, err := benchmark.Plan(run, run.Spec.Target.Endpoints)
	return err
}
