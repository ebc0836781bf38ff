package suite

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Grid is a suite of which two axes have numbers.
type Grid struct {
	X, Y Numbers
	// Others is the third axis, of which each entry has a grid of its own.
	Others v1alpha1.Axis
}

// Numbers are an axis whose entries differ only in one number, or in several that are always equal.
type Numbers struct {
	Axis v1alpha1.Axis
	// Fields have the number.
	Fields  []string
	Entries []Number
}

// Number is an entry of such an axis. They are in ascending order.
type Number struct {
	Name  v1alpha1.EntryName
	Value float64
}

// leastGrid is how many cells a grid has at least: fewer are read faster one by one.
const leastGrid = 6

// GridOf returns the grid of a suite; false if it has none. If all three axes have numbers, the two longest are the grid.
func GridOf(s *v1alpha1.EtcdBenchmarkSuite) (Grid, bool) {
	var all []Numbers
	for _, n := range []Numbers{
		numbersOf(v1alpha1.AxisLoads, loads(s), func(l v1alpha1.SuiteLoad) (v1alpha1.EntryName, any) { return l.Name, l.Load }),
		numbersOf(v1alpha1.AxisWorkloads, s.Spec.Workloads, func(w v1alpha1.SuiteWorkload) (v1alpha1.EntryName, any) { return w.Name, w.Workload }),
		numbersOf(v1alpha1.AxisTargets, s.Spec.Targets, func(t v1alpha1.SuiteTarget) (v1alpha1.EntryName, any) { return t.Name, t.Target }),
	} {
		if len(n.Entries) > 1 {
			all = append(all, n)
		}
	}
	if len(all) == 3 {
		shortest := slices.MinFunc(all, func(a, b Numbers) int { return cmp.Compare(len(a.Entries), len(b.Entries)) })
		all = slices.DeleteFunc(all, func(n Numbers) bool { return n.Axis == shortest.Axis })
	}
	if s.Spec.Search != nil || len(all) != 2 || len(all[0].Entries)*len(all[1].Entries) < leastGrid {
		return Grid{}, false
	}
	g := Grid{X: all[0], Y: all[1]}
	for _, axis := range []v1alpha1.Axis{v1alpha1.AxisTargets, v1alpha1.AxisWorkloads, v1alpha1.AxisLoads} {
		if axis != g.X.Axis && axis != g.Y.Axis {
			g.Others = axis
		}
	}
	return g, true
}

// Cell finds a cell of the grid of an entry of the third axis.
func (g Grid) Cell(cells []Cell, other, x, y v1alpha1.EntryName) (Cell, bool) {
	i := slices.IndexFunc(cells, func(c Cell) bool {
		return Entry(g.Others, c) == other && Entry(g.X.Axis, c) == x && Entry(g.Y.Axis, c) == y
	})
	if i < 0 {
		return Cell{}, false
	}
	return cells[i], true
}

// numbersOf has no entries if they do not differ in a number.
func numbersOf[T any](axis v1alpha1.Axis, entries []T, of func(T) (v1alpha1.EntryName, any)) Numbers {
	out, values := Numbers{Axis: axis}, []map[string]any{}
	for _, e := range entries {
		_, spec := of(e)
		values = append(values, fieldsOf(spec))
	}
	for _, field := range differing(values) {
		for i, e := range entries {
			number, isNumber := values[i][field].(float64)
			name, _ := of(e)
			switch {
			case !isNumber, len(out.Fields) > 0 && out.Entries[i].Value != number:
				return Numbers{Axis: axis}
			case len(out.Fields) == 0:
				out.Entries = append(out.Entries, Number{Name: name, Value: number})
			}
		}
		out.Fields = append(out.Fields, field)
	}
	slices.SortStableFunc(out.Entries, func(a, b Number) int { return cmp.Compare(a.Value, b.Value) })
	for i := 1; i < len(out.Entries); i++ {
		if out.Entries[i].Value == out.Entries[i-1].Value {
			return Numbers{Axis: axis}
		}
	}
	return out
}

// fieldsOf are the values of an object by their paths.
func fieldsOf(object any) map[string]any {
	out := map[string]any{}
	data, err := json.Marshal(object)
	var tree any
	if err != nil || json.Unmarshal(data, &tree) != nil {
		return out
	}
	var walk func(path []string, v any)
	walk = func(path []string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				walk(append(slices.Clone(path), name), inner)
			}
		case []any:
			for i, inner := range v {
				walk(append(slices.Clone(path), fmt.Sprint(i)), inner)
			}
		default:
			out[strings.Join(path, ".")] = v
		}
	}
	walk(nil, tree)
	return out
}

// differing are the fields that are not equal in all objects, sorted.
func differing(objects []map[string]any) []string {
	all := map[string]bool{}
	for _, o := range objects {
		for field := range o {
			all[field] = true
		}
	}
	maps.DeleteFunc(all, func(field string, _ bool) bool {
		return !slices.ContainsFunc(objects, func(o map[string]any) bool { return o[field] != objects[0][field] })
	})
	return slices.Sorted(maps.Keys(all))
}
