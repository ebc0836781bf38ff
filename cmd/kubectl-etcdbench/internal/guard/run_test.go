package guard

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/report"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// uid is that of every object.
const uid types.UID = "11112222-3333-4444-5555-666677778888"

// Each sample gives the same plan, requests, status, tables and metric families.
func TestRuns(t *testing.T) {
	t.Parallel()
	for _, s := range readSamples(t, "etcdbenchmark_") {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			compare(t, "run/"+s.Name+".txt", describeRun(t, string(s.Manifest)))
		})
	}
}

// created returns the object that a manifest makes, with fixed metadata.
func created(t *testing.T, manifest string) (b *v1alpha1.EtcdBenchmark, admitted string) {
	t.Helper()
	admitted, complaint, ok := call(manifest, "run", "-f", "-", "--dry-run=client")
	if !ok {
		t.Fatal(complaint)
	}
	b = &v1alpha1.EtcdBenchmark{}
	if err := yaml.UnmarshalStrict([]byte(admitted), b); err != nil {
		t.Fatal(err)
	}
	b.UID, b.Generation, b.CreationTimestamp.Time = uid, 1, at
	return b, admitted
}

// endpointsOf are the addresses of the spec, or three addresses in place of those that the operator would look up.
func endpointsOf(b *v1alpha1.EtcdBenchmark) []string {
	if len(b.Spec.Target.Endpoints) > 0 {
		return b.Spec.Target.Endpoints
	}
	return []string{"10.0.0.1:2379", "10.0.0.2:2379", "10.0.0.3:2379"}
}

func describeRun(t *testing.T, manifest string) string {
	t.Helper()
	d, out := &document{}, must[plan.Plan](t)
	b, admitted := created(t, manifest)
	p := out(benchmark.Plan(b, endpointsOf(b)))
	d.add("with defaults", admitted)
	d.add("plan", string(must[[]byte](t)(p.Encode())))
	d.add("parts", parts(t, p))
	d.add("requests", describeRequests(p))
	pods := measuredBy(p.Name).pods(t, p)
	d.addJSON(t, "progress", benchmark.Progress(b, results.Summarize(pods), pods))
	stored := finish(t, b, p, pods)
	course := must[benchmark.Detail](t)(benchmark.ReadReport(stored)).Course
	d.add("table", written(t, func(w io.Writer) error { return render.WriteTable(w, b, course) }))
	d.add("brief", written(t, func(w io.Writer) error { return render.WriteBrief(w, b, "answer", "more") }))
	d.addJSON(t, "status", b.Status)
	d.add("report", describeReport(b.Name, stored))
	d.add("perfdash", string(must[[]byte](t)(render.Perfdash(b))))
	d.add("csv", string(must[[]byte](t)(report.CSV(report.OfRun(b, stored)))))
	d.add("junit", string(must[[]byte](t)(report.JUnit(report.OfRun(b, stored)))))
	d.add("left keys", benchmark.Leftover(b).String())
	d.add("metric families of client pod 0", families(b, pods[0]))
	d.add("termination message of client pod 0", describeMessage(t, pods[0]))
	return d.String()
}

// shownReports are the names of runs whose reports are shown; of others there is a digest.
var shownReports = []string{"write-all-members", "watch", "zookeeper-write"}

func describeReport(name string, stored []byte) string {
	if slices.Contains(shownReports, name) {
		return string(stored)
	}
	return fmt.Sprintf("digest %x", sha256.Sum256(stored))
}

func parts(t *testing.T, p plan.Plan) string {
	t.Helper()
	var out strings.Builder
	for i := range p.Pods() {
		part := must[plan.Part](t)(p.Part(i))
		fmt.Fprintf(&out, "pod %d: connections %d from %d, clients %d, requests %d, numbers %d %d %d, carriers %v, digest of watchers %08x\n",
			i, part.Connections, part.FirstConnection, part.Clients(), part.Requests, part.Number(0), part.Number(1), part.Number(2), part.OwnCarriers(),
			crc32.ChecksumIEEE(fmt.Appendf(nil, "%+v %+v", workload.New(p.Run).Watchers(i), workload.New(p.Run).History(i))))
	}
	return out.String()
}

// sampled is how many operations of a stream have a digest.
const sampled = 500

// describeRequests shows the first operations of each stream, and a digest of more.
func describeRequests(p plan.Plan) string {
	var out strings.Builder
	w := workload.New(p.Run)
	list := func(name string, n int64, at func(int64) workload.Operation) {
		digest := sha256.New()
		for i := range min(n, sampled) {
			line := describeOperation(&p.Run, w, at(i))
			digest.Write([]byte(line))
			if i < 4 {
				fmt.Fprintf(&out, "%s %d: %s\n", name, i, line)
			}
		}
		fmt.Fprintf(&out, "%s: digest of the first %d: %x\n", name, min(n, sampled), digest.Sum(nil)[:8])
	}
	list("preload", w.PreloadCount(), w.Preload)
	list("warm-up", sampled, func(n int64) workload.Operation { return w.At(workload.Warmup, n) })
	list("measured", sampled, func(n int64) workload.Operation { return w.At(workload.Measured, n) })
	estimate, known := p.Run.WriteEstimate()
	fmt.Fprintf(&out, "operations %v, key bytes %d, write estimate %d %t, leases %d from %d, drain limit %v\n",
		p.Operations(), w.KeyBytes(), estimate, known, p.Run.LeaseCount(), p.FirstLease, p.Run.DrainLimit())
	return out.String()
}

func describeOperation(r *workload.Run, w *workload.Workload, op workload.Operation) string {
	var key string
	switch op.Subject {
	case workload.OnKey:
		key = fmt.Sprintf("%q %q", w.AppendKey(nil, op.Key), w.AppendEnd(nil, op.Key))
	case workload.OnSeveral:
		key = fmt.Sprintf("keys %v", w.AppendKeys(nil, op, &workload.Taken{}))
	case workload.OnObject:
		key = fmt.Sprintf("%q", w.AppendObject(nil, op.Resource, op.Key))
	case workload.OnName:
		key = fmt.Sprintf("%q", r.ContestKey(int(op.Key)))
	}
	value := ""
	if op.Writes {
		data := w.Value(op.Value)
		if w.Marked() {
			data = w.AppendMarked(nil, op, 0)
		}
		value = fmt.Sprintf("value %d %d bytes %08x", op.Value, len(data), crc32.ChecksumIEEE(data))
	}
	next, hold, more := w.Next(op, "")
	return fmt.Sprintf("%s %d %s %s needs %d watched %d lease %d create %t page %d then %s %v %t",
		op.Kind, op.Subject, key, value, op.Needs, op.Watched, op.Lease, op.Create, op.PageSize, next.Kind, hold, more)
}

// digested are the samples with the workload of another sample, whose metric families are shown.
var digested = []string{"kine", "nodes"}

func families(b *v1alpha1.EtcdBenchmark, s *results.Snapshot) string {
	shown := describeFamilies(wire.Families(s))
	if slices.Contains(digested, b.Name) {
		return fmt.Sprintf("digest %x", sha256.Sum256([]byte(shown)))
	}
	return shown
}

// describeFamilies shows one metric per line. A histogram's line has its native buckets; the classic ones follow from
// them.
func describeFamilies(all []*dto.MetricFamily) string {
	var out strings.Builder
	for _, f := range all {
		for _, m := range f.Metric {
			var labels []string
			for _, l := range m.Label {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			fmt.Fprintf(&out, "%s{%s} %s\n", f.GetName(), strings.Join(labels, ","), describeValue(m))
		}
	}
	return out.String()
}

func describeValue(m *dto.Metric) string {
	switch h := m.Histogram; {
	case h != nil:
		var spans, classic []string
		for _, s := range h.PositiveSpan {
			spans = append(spans, fmt.Sprintf("%d+%d", s.GetOffset(), s.GetLength()))
		}
		for _, b := range h.Bucket {
			classic = append(classic, fmt.Sprintf("%g:%d", b.GetUpperBound(), b.GetCumulativeCount()))
		}
		return fmt.Sprintf("count %d sum %v schema %d zero %d spans %v deltas %v classic %d %08x",
			h.GetSampleCount(), h.GetSampleSum(), h.GetSchema(), h.GetZeroCount(), spans, h.PositiveDelta, len(classic), crc32.ChecksumIEEE([]byte(strings.Join(classic, " "))))
	case m.Counter != nil:
		return fmt.Sprint(m.Counter.GetValue())
	}
	return fmt.Sprint(m.Gauge.GetValue())
}

// describeMessage shows what a reader of the message decodes, as a digest.
func describeMessage(t *testing.T, s *results.Snapshot) string {
	t.Helper()
	message := wire.TerminationMessage(s)
	decoded := must[*results.Snapshot](t)(wire.DecodeTerminationMessage(message))
	head, _, _ := bytes.Cut(message, []byte("\n"))
	return fmt.Sprintf("%.80s\nomitted %v, digest of its metric families %08x", head, decoded.Omitted, crc32.ChecksumIEEE([]byte(describeFamilies(wire.Families(decoded)))))
}

// The names, types and help texts of all families are the same.
func TestFamilies(t *testing.T) {
	t.Parallel()
	known := map[string]string{}
	for _, s := range readSamples(t, "etcdbenchmark_") {
		b, _ := created(t, string(s.Manifest))
		p := must[plan.Plan](t)(benchmark.Plan(b, endpointsOf(b)))
		for _, f := range wire.Families(measuredBy(p.Name).pod(t, p, 0)) {
			known[f.GetName()] = fmt.Sprintf("%s %s %s", f.GetName(), f.GetType(), f.GetHelp())
		}
	}
	var lines []string
	for _, line := range known {
		lines = append(lines, line)
	}
	slices.Sort(lines)
	compare(t, "families.txt", strings.Join(lines, "\n")+"\n")
}
