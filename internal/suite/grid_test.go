package suite

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// gridded is a suite of one target, with loads of these clients and workloads of these value sizes.
func gridded(clients, sizes []int32) *v1alpha1.EtcdBenchmarkSuite {
	s := &v1alpha1.EtcdBenchmarkSuite{}
	s.Spec.Targets = []v1alpha1.SuiteTarget{{Name: "one"}}
	for i, n := range clients {
		s.Spec.Loads = append(s.Spec.Loads, v1alpha1.SuiteLoad{Name: v1alpha1.EntryName(fmt.Sprintf("l%d", i)), Load: spec.Load{Clients: n, Connections: n, Seed: 1}})
	}
	for i, n := range sizes {
		s.Spec.Workloads = append(s.Spec.Workloads, v1alpha1.SuiteWorkload{
			Name: v1alpha1.EntryName(fmt.Sprintf("w%d", i)), Workload: spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{Values: spec.Values{SizeBytes: n}}},
		})
	}
	return s
}

// An axis has numbers if its entries differ in one number, or in equal ones. They are sorted.
func TestGridsOfSuites(t *testing.T) {
	s := gridded([]int32{64, 8, 512}, []int32{256, 1024})
	g, has := GridOf(s)
	want := Grid{
		X: Numbers{Axis: v1alpha1.AxisLoads, Fields: []string{"clients", "connections"}, Entries: []Number{{"l1", 8}, {"l0", 64}, {"l2", 512}}},
		Y: Numbers{Axis: v1alpha1.AxisWorkloads, Fields: []string{"put.values.sizeBytes"}, Entries: []Number{{"w0", 256}, {"w1", 1024}}}, Others: v1alpha1.AxisTargets,
	}
	if diff := cmp.Diff(want, g); diff != "" || !has {
		t.Errorf("the grid: %v (-want +got):\n%s", has, diff)
	}
	if c, found := g.Cell(Cells(s), "one", "l2", "w1"); !found || c.Name != "w1/l2" {
		t.Errorf("found the cell %s: %v", c.Name, found)
	}
	// The longest two of three axes with numbers.
	s = gridded([]int32{1, 2, 3}, []int32{1, 2, 3})
	s.Spec.Targets = nil
	for _, n := range []int32{1, 3} {
		s.Spec.Targets = append(s.Spec.Targets, v1alpha1.SuiteTarget{Name: v1alpha1.EntryName(fmt.Sprint(n)), Target: v1alpha1.Target{Ephemeral: &v1alpha1.EphemeralTarget{Replicas: n}}})
	}
	if g, has := GridOf(s); !has || g.Others != v1alpha1.AxisTargets {
		t.Errorf("found %v, %+v", has, g)
	}
}

func TestSuitesWithoutAGrid(t *testing.T) {
	for name, change := range map[string]func(*v1alpha1.EtcdBenchmarkSuite){
		"another number": func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.Loads[0].Load.Seed = 9 },
		"a text": func(s *v1alpha1.EtcdBenchmarkSuite) {
			s.Spec.Workloads[1].Workload.Put.Values.Content = spec.ContentZero
		},
		"one entry":            func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.Workloads = s.Spec.Workloads[:1] },
		"four cells":           func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.Loads = s.Spec.Loads[:2] },
		"the same number":      func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.Loads[1] = s.Spec.Loads[0] },
		"a number, not always": func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.Loads[0].Load.DurationSeconds = new(int32(3)) },
		"a search":             func(s *v1alpha1.EtcdBenchmarkSuite) { s.Spec.Search = &v1alpha1.SuiteSearch{} },
	} {
		s := gridded([]int32{1, 2, 3}, []int32{1, 2})
		change(s)
		if g, has := GridOf(s); has {
			t.Errorf("%s: found %+v", name, g)
		}
	}
}
