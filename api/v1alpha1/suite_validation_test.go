package v1alpha1_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const suiteText = `
apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmarkSuite
metadata: {namespace: default, generateName: suite-}
spec:
  targets: [{name: a, target: {endpoints: ["127.0.0.1:2379"]}}, {name: b, target: {endpoints: ["127.0.0.1:2380"]}}]
  workloads: [{name: put, workload: {type: Put, put: {}}}]
  loads: [{name: one, load: {requests: 10}}]
`

// overTransports are two loads of an axis.
func overTransports(one, two string) string {
	return fmt.Sprintf("  loads: [{name: one, load: {requests: 10, transport: %s}}, {name: two, load: {requests: 20, transport: %s}}]\n", one, two)
}

// entriesOf are this many loads of an axis.
func entriesOf(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("{name: l%d, load: {requests: 10}}", i))
	}
	return "  loads: [" + strings.Join(out, ", ") + "]\n"
}

func suiteObject(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return o
}

func createSuite(t *testing.T, o *unstructured.Unstructured) error {
	t.Helper()
	return api.Create(t.Context(), o, &client.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
}

func TestAdmissionOfSuites(t *testing.T) {
	const (
		workloads  = "  workloads: [{name: put, workload: {type: Put, put: {}}}]\n"
		another    = ", {name: NAME, workload: {type: Put, put: {}}}"
		loads      = "  loads: [{name: one, load: {requests: 10}}]\n"
		objectives = "objectives: [{name: p99, type: Latency, latency: {operation: Put, statistic: P99, maxMicroseconds: 25000}}], "
		searched   = "  workloads: [{name: put, " + objectives + "workload: {type: Put, put: {}}}]\n  search: {load: {durationSeconds: 30}}\n"
		three      = "  workloads: [{name: p, " + objectives + "workload: {type: Put, put: {}}}, {name: q, " + objectives + "workload: {type: Put, put: {}}}, {name: r, " + objectives + "workload: {type: Put, put: {}}}]\n  search: {load: {durationSeconds: 30}, maxProbes: PROBES}\n"
		published  = "  compare: {baseline: {values: {source: a page, figures: [{cell: a, value: 1}]}}, metrics: [{type: Throughput}]}\n"
		stored     = "  rounds: 3\n  compare: {baseline: {suite: {name: release}}, metrics: [{type: Throughput}]}\n"
		compared   = "  rounds: 3\n  compare: {axis: Targets, baseline: {entry: a}, metrics: [{type: Throughput}, {type: Latency, operation: Put, statistic: P99}]}\n"
	)
	fiveWorkloads := strings.TrimSuffix(workloads, "]\n")
	for _, name := range []string{"p", "q", "r", "s"} {
		fiveWorkloads += strings.Replace(another, "NAME", name, 1)
	}
	fiveWorkloads += "]\n"
	for name, tc := range map[string]struct {
		// old is replaced by new in suiteText; an empty old appends new.
		old, new string
		// want is a part of the rejection; empty if the suite is good.
		want string
	}{
		"plain":                      {"", "", ""},
		"as many entries as allowed": {loads, entriesOf(20), ""},
		"too many entries":           {loads, entriesOf(21), "spec.loads: Too many"},
		"too many cells":             {workloads + loads, fiveWorkloads + entriesOf(11), "must be at most 100 cells"},
		"as many cells as allowed":   {workloads + loads, fiveWorkloads + entriesOf(10), ""},
		"too many runs":              {loads, entriesOf(20) + "  rounds: 13\n", "must be at most 500 runs"},
		"as many runs as allowed":    {loads, entriesOf(20) + "  rounds: 12\n", ""},
		"no load":                    {loads, "  loads: []\n", "spec.loads"},
		"two equal names":            {"name: b", "name: a", "Duplicate value"},
		"a name with capitals":       {"name: b", "name: B", "lower-case letters"},
		"a long name":                {"name: b", "name: " + strings.Repeat("b", 21), "spec.targets[1].name: Too long"},
		"a long name of the suite":   {"generateName: suite-", "name: " + strings.Repeat("s", 41), "at most 40 characters"},
		"the longest name":           {"generateName: suite-", "name: " + strings.Repeat("s", 40), ""},
		"a field of a run":           {"{requests: 10}", "{requests: 10, clients: 0}", "spec.loads[0].load.clients"},
		"an unknown field":           {"{requests: 10}", "{requests: 10, cients: 1}", `unknown field "spec.loads[0].load.cients"`},
		"an exclusion":               {"", "  exclude: [{target: a, load: one}]\n", ""},
		"an exclusion of nothing":    {"", "  exclude: [{}]\n", "spec.exclude[0]"},
		"an exclusion of no one":     {"", "  exclude: [{target: c}]\n", "spec.exclude"},
		"compared":                   {"", compared, ""},
		"too few rounds":             {"", strings.Replace(compared, "rounds: 3", "rounds: 2", 1), "spec.rounds: Invalid value: must be at least 3"},
		"no such baseline":           {"", strings.Replace(compared, "entry: a", "entry: c", 1), "spec.compare.baseline"},
		"an axis of one entry":       {"", strings.Replace(strings.Replace(compared, "Targets", "Loads", 1), "entry: a", "entry: one", 1), "at least two entries"},
		"transports compared":        {loads, overTransports("Client", "JSON") + strings.Replace(strings.Replace(compared, "Targets", "Loads", 1), "entry: a", "entry: one", 1), "spec.compare.axis: Invalid value: cannot be Loads if their transports differ"},
		"one transport compared":     {loads, overTransports("JSON", "JSON") + strings.Replace(strings.Replace(compared, "Targets", "Loads", 1), "entry: a", "entry: one", 1), ""},
		"transports side by side":    {loads, overTransports("Client", "JSON") + compared, ""},
		"a metric twice":             {"", strings.Replace(compared, "{type: Throughput}", "{type: Throughput}, {type: Throughput, tolerancePercent: 9}", 1), "has a metric twice"},
		"a latency of what":          {"", strings.Replace(compared, ", operation: Put, statistic: P99", "", 1), "operation and statistic are required"},
		"a throughput of what":       {"", strings.Replace(compared, "{type: Throughput}", "{type: Throughput, operation: Put}", 1), "must be absent for type Throughput"},
		"a spread":                   {"", strings.Replace(compared, "P99", "Stddev", 1), "must be Mean, P50, P90, P95, P99, P999 or Max"},
		"everything is accepted":     {"", strings.Replace(compared, "{type: Throughput}", "{type: Throughput, tolerancePercent: 100}", 1), "less than or equal to 99"},
		"a matrix":                   {"", "  table: {form: Matrix, columns: Loads, metric: {type: Latency, operation: Put, statistic: P90}}\n", ""},
		"published figures":          {"", published, ""},
		"a figure twice":             {"", strings.Replace(published, "{cell: a, value: 1}", "{cell: a, value: 1}, {cell: a, value: 2}", 1), "Duplicate value"},
		"figures of two metrics":     {"", strings.Replace(published, "{type: Throughput}", "{type: Throughput}, {type: Latency, operation: Put, statistic: P99}", 1), "spec.compare.metrics"},
		"figures of what is lost":    {"", strings.Replace(published, "{type: Throughput}", "{type: Latency, operation: Put, statistic: P95}", 1), "spec.compare.metrics"},
		"another suite":              {"", stored, ""},
		"another suite, few rounds":  {"", strings.Replace(stored, "rounds: 3", "rounds: 2", 1), "spec.rounds: Invalid value: must be at least 3"},
		"another suite, an axis":     {"", strings.Replace(stored, "compare: {", "compare: {axis: Targets, ", 1), "spec.compare.axis"},
		"another suite, no name":     {"", strings.Replace(stored, "{name: release}", "{}", 1), "spec.compare.baseline.suite.name"},
		"another suite, fresh":       {"", strings.Replace(stored, "compare: {", "compare: {confirmRounds: 3, ", 1), "spec.compare.confirmRounds"},
		"an entry without an axis":   {"", strings.Replace(compared, "axis: Targets, ", "", 1), "spec.compare.axis"},
		"two baselines":              {"", strings.Replace(compared, "{entry: a}", "{entry: a, suite: {name: release}}", 1), "set exactly one of entry, suite and values"},
		"no baseline":                {"", strings.Replace(compared, "{entry: a}", "{}", 1), "set exactly one of entry, suite and values"},
		"too many with fresh rounds": {loads, entriesOf(20) + strings.Replace(compared, "compare: {", "compare: {confirmRounds: 10, ", 1), "must be at most 500 runs"},
		"fresh rounds":               {"", strings.Replace(compared, "compare: {", "compare: {confirmRounds: 3, ", 1), ""},
		"too few fresh rounds":       {"", strings.Replace(compared, "compare: {", "compare: {confirmRounds: 2, ", 1), "confirmRounds"},
		"a sum":                      {"", "  table: {sum: {axis: Targets, entries: [a, b]}}\n", ""},
		"a sum of no one":            {"", "  table: {sum: {axis: Targets, entries: [a, c]}}\n", "spec.table.sum.entries"},
		"a sum in a matrix":          {"", "  table: {form: Matrix, sum: {axis: Targets}}\n", "spec.table.sum"},
		"a search":                   {workloads + loads, searched, ""},
		"a search and loads":         {workloads, searched, "set loads or search: found both"},
		"nothing to send":            {loads, "", "set loads or search: found neither"},
		"a search of a rate":         {workloads + loads, strings.Replace(searched, "durationSeconds: 30", "durationSeconds: 30, rate: {perSecond: 9}", 1), "spec.search.load.rate: Invalid value: is what the search looks for"},
		"a search of requests":       {workloads + loads, strings.Replace(searched, "durationSeconds: 30", "requests: 30", 1), "spec.search.load.requests"},
		"a search without objective": {workloads + loads, strings.Replace(searched, objectives, "", 1), "needs an objective that a higher rate misses"},
		"a search of no limit":       {workloads + loads, strings.Replace(searched, "type: Latency, latency: {operation: Put, statistic: P99, maxMicroseconds: 25000}", "type: ErrorRatio, errorRatio: {maxPerMillion: 0}", 1), "needs an objective that a higher rate misses"},
		"a search in rounds":         {workloads + loads, searched + "  rounds: 3\n", "spec.search: Invalid value: cannot be combined with rounds"},
		"a search that compares":     {workloads + loads, searched + compared, "cannot be combined"},
		"a search with a table":      {workloads + loads, searched + "  table: {form: Matrix}\n", "cannot be combined"},
		"bounds the wrong way":       {workloads + loads, strings.Replace(searched, "search: {", "search: {minPerSecond: 100, maxPerSecond: 50, ", 1), "spec.search.maxPerSecond"},
		"a search without a load":    {workloads + loads, searched + "  exclude: [{load: one}]\n", "spec.exclude"},
		"as many probes as allowed":  {workloads + loads, strings.Replace(three, "PROBES", "83", 1), ""},
		"too many probes":            {workloads + loads, strings.Replace(three, "PROBES", "84", 1), "must be at most 500 runs: lower search.maxProbes"},
		"a matrix of what is lost":   {"", "  table: {form: Matrix, metric: {type: Latency, operation: Put, statistic: P95}}\n", "spec.table.metric.statistic"},
	} {
		t.Run(name, func(t *testing.T) {
			text := suiteText + tc.new
			if tc.old != "" {
				text = strings.Replace(suiteText, tc.old, tc.new, 1)
			}
			err := createSuite(t, suiteObject(t, text))
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(refusal(err), tc.want) {
				t.Errorf("wanted a rejection that says %q, found: %v", tc.want, err)
			}
		})
	}
}

func TestSuitesAreImmutable(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(spec map[string]any)
		want   string
	}{
		"stop":       {func(spec map[string]any) { spec["stop"] = true }, ""},
		"rounds":     {func(spec map[string]any) { spec["rounds"] = int64(2) }, "is immutable"},
		"a seed":     {func(spec map[string]any) { spec["seed"] = int64(2) }, "is immutable"},
		"an entry":   {func(spec map[string]any) { spec["targets"] = spec["targets"].([]any)[:1] }, "is immutable"},
		"the table":  {func(spec map[string]any) { spec["table"] = map[string]any{"form": "Matrix"} }, "is immutable"},
		"an exclude": {func(spec map[string]any) { spec["exclude"] = []any{map[string]any{"target": "a"}} }, "is immutable"},
		"a time-out": {func(spec map[string]any) { spec["template"] = map[string]any{"timeoutSeconds": int64(99)} }, "is immutable"},
		"the order of targets": {func(spec map[string]any) {
			targets := spec["targets"].([]any)
			spec["targets"] = []any{targets[1], targets[0]}
		}, "is immutable"},
		"keepReports": {func(spec map[string]any) { spec["keepReports"] = "All" }, "is immutable"},
		"keepRuns":    {func(spec map[string]any) { spec["keepRuns"] = "None" }, "is immutable"},
		"a comparison": {func(spec map[string]any) {
			spec["compare"] = map[string]any{"axis": "Targets", "baseline": map[string]any{"entry": "a"}, "metrics": []any{map[string]any{"type": "Throughput"}}}
		}, "is immutable"},
		"onRunFailed": {func(spec map[string]any) { spec["onRunFailed"] = "Stop" }, "is immutable"},
	} {
		t.Run(name, func(t *testing.T) {
			o := suiteObject(t, suiteText)
			if err := createSuite(t, o); err != nil {
				t.Fatal(err)
			}
			tc.change(o.Object["spec"].(map[string]any))
			err := api.Update(t.Context(), o)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("wanted a rejection that says %q, found: %v", tc.want, err)
			}
		})
	}
	searching := strings.NewReplacer("  loads: [{name: one, load: {requests: 10}}]", "  search: {load: {durationSeconds: 30}}",
		"{name: put, ", "{name: put, objectives: [{name: rate, type: AchievedRate, achievedRate: {minPercent: 99}}], ").Replace(suiteText)
	search := suiteObject(t, searching)
	if err := createSuite(t, search); err != nil {
		t.Fatal(err)
	}
	search.Object["spec"].(map[string]any)["search"].(map[string]any)["maxPerSecond"] = int64(99)
	if err := api.Update(t.Context(), search); err == nil || !strings.Contains(err.Error(), "is immutable") {
		t.Errorf("a search was changed: %v", err)
	}
	o := suiteObject(t, suiteText+"  stop: true\n")
	if err := createSuite(t, o); err != nil {
		t.Fatal(err)
	}
	o.Object["spec"].(map[string]any)["stop"] = false
	if err := api.Update(t.Context(), o); err == nil || !strings.Contains(err.Error(), "can only change from false to true") {
		t.Errorf("a stopped suite was started again: %v", err)
	}
}
