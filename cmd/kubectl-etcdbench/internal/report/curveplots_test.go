package report

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// overClients is the suite of two targets with a second and a third load, whose runs are those of the first load. Each
// member of the old target has used half a processor, one of the new target three quarters.
func overClients(t *testing.T) *Document {
	t.Helper()
	d := compared(t, 3, 1.5, func(b *v1alpha1.EtcdBenchmark) {
		used := int64(500)
		if strings.HasPrefix(b.Name, "versions-2") {
			used = 750
		}
		b.Status.Summary.Members = []v1alpha1.MemberSummary{{ID: "a", CPUMillicores: &used}, {ID: "b", CPUMillicores: &used}}
	})
	d.Suite.Spec.Loads = append(d.Suite.Spec.Loads,
		v1alpha1.SuiteLoad{Name: "c100", Load: spec.Load{Clients: 100}}, v1alpha1.SuiteLoad{Name: "c1", Load: spec.Load{Clients: 1}})
	for i := range d.Suite.Status.Results {
		r := &d.Suite.Status.Results[i]
		r.Cell += "/c10"
		more := *r
		more.Cell = strings.TrimSuffix(r.Cell, "c10") + "c1"
		d.Suite.Status.Results = append(d.Suite.Status.Results, more)
	}
	return d
}

func plotOf(t *testing.T, all []Plot, id string) Plot {
	t.Helper()
	for _, p := range all {
		if p.Picture.Info().ID == id {
			return p
		}
	}
	t.Fatalf("found no plot %s", id)
	return Plot{}
}

func TestFiguresOverClients(t *testing.T) {
	d := overClients(t)
	d.Suite.Status.Results[0].Invalid = "its load generator was a limit (ClientBound)"
	drawn, equal := clientPlots(d)
	cpu := plotOf(t, drawn, "clients-cpu")
	want := [][]string{
		{"series", "clients", "mean", "lowest", "highest", "rounds"},
		{"old", "1", "1", "1", "1", "3"}, {"old", "10", "1", "1", "1", "3"}, {"new", "1", "1.5", "1.5", "1.5", "3"}, {"new", "10", "1.5", "1.5", "1.5", "3"},
	}
	if diff := cmp.Diff(want, cpu.Rows); diff != "" {
		t.Errorf("the table (-want +got):\n%s", diff)
	}
	if !strings.Contains(cpu.Picture.Info().Description, "cannot be compared") {
		t.Error("the plot does not say that a round cannot be compared")
	}
	// A line that is flat says less than a sentence.
	if len(equal) == 0 || equal[0].Label != "Throughput:" || !strings.HasPrefix(equal[0].Text, "All are equal: 2,020/s") {
		t.Errorf("found the sentences %+v", equal)
	}
}

// Each run of the fixture has one failed request per pod.
func TestErrorsByMessage(t *testing.T) {
	blocks := errorBlocks(overClients(t))
	if len(blocks) != 2 || len(blocks[1].Rows) != 5 {
		t.Fatalf("found %+v, wanted a row for each of four cells", blocks)
	}
	if row := blocks[1].Rows[1]; row[0] != "old/c1" || row[1] != "Unavailable" || row[3] != "6" {
		t.Errorf("the first row is %q", row)
	}
}

// A member whose figure is not known must not look as if it had used nothing.
func TestAFigureThatOneMemberLacksIsNotDrawn(t *testing.T) {
	d := overClients(t)
	for _, r := range d.Runs {
		r.Object.Status.Summary.Members[1].CPUMillicores = nil
	}
	drawn, _ := clientPlots(d)
	for _, p := range drawn {
		if strings.HasPrefix(p.Picture.Info().ID, "clients-cpu") {
			t.Errorf("found %s", p.Picture.Info().ID)
		}
	}
}

// Figures of kubelets are not drawn beside those of other sources, and a plot says that members were measured in two ways.
func TestSourcesAreNotCompared(t *testing.T) {
	d := overClients(t)
	one, _ := clientPlots(d)
	if strings.Contains(plotOf(t, one, "clients-cpu").Picture.Info().Description, "do not compare") {
		t.Error("members that were measured in one way are not compared")
	}
	d.Runs[0].Object.Status.Summary.Members[0].CPUHighestMillicores = new(int64(900))
	for i, r := range d.Runs {
		for j := range r.Object.Status.Summary.Members {
			// A figure that is always equal has no plot.
			r.Object.Status.Summary.Members[j].Kubelet = &v1alpha1.KubeletFigures{CPUMillicores: new(int64(4000 + 2000*(i%2)))}
		}
	}
	all, _ := clientPlots(d)
	if !strings.Contains(plotOf(t, all, "clients-cpu").Picture.Info().Description, "do not compare") {
		t.Error("the plot does not say that members were measured in two ways")
	}
	for _, row := range plotOf(t, all, "clients-kubelet-cpu").Rows[1:] {
		if n, err := strconv.ParseFloat(row[2], 64); err != nil || n < 8 {
			t.Errorf("found %q beside the 8 and more processors that kubelets measured", row)
		}
	}
}

// The loads of a suite with one or two numbers of clients, and of a search, are not drawn over clients.
func TestSuitesThatAreNotOverClients(t *testing.T) {
	two := overClients(t)
	two.Suite.Spec.Loads = two.Suite.Spec.Loads[:2]
	for name, d := range map[string]*Document{"two": two, "search": searched(t)} {
		drawn, equal := clientPlots(d)
		if n := len(drawn) + len(equal) + len(bestPlots(d)); n > 0 {
			t.Errorf("%s: found %d plots", name, n)
		}
	}
}

func TestTheBestRunOfEachSeries(t *testing.T) {
	d := overClients(t)
	best := d.run("versions-1-2")
	best.Object.Status.Summary.MeasuredRequests *= 2
	for _, b := range bestRuns(d) {
		if strings.HasPrefix(b.label, "old") && b.run != best.Object {
			t.Errorf("found %s as the best run, wanted %s", b.run.Name, best.Object.Name)
		}
	}
	rows := plotOf(t, bestPlots(d), "growth-throughput").Rows
	if last := rows[len(rows)-1]; last[0] != "new, 1 clients" || last[1] == "" {
		t.Errorf("the last row is %q", last)
	}
}

// The memory of the members is added up at each sample, over the requests that had succeeded by then.
func TestMemoryOverRequests(t *testing.T) {
	b := bestRuns(overClients(t))[0]
	own := b.details.Course.Samples["aa01"]
	own.Values[results.FigureMemoryNowBytes] = []float64{1e6, 2e6, 3e6}
	b.details.Course.Samples["bb02"] = own
	points := b.memory().Points
	if len(points) < 2 || points[len(points)-1].Value != 6e6 || points[0].At >= points[1].At {
		t.Errorf("found %+v", points)
	}
}
