package v1alpha1_test

import (
	"strings"
	"testing"
)

const scheduleText = `
apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmarkSchedule
metadata: {namespace: default, generateName: nightly-}
spec:
  schedule: "0 3 * * *"
  suiteTemplate:
    spec:
      targets: [{name: a, target: {endpoints: ["127.0.0.1:2379"]}}]
      workloads: [{name: put, objectives: [{name: rate, type: AchievedRate, achievedRate: {minPercent: 99}}], workload: {type: Put, put: {}}}]
      loads: [{name: one, load: {requests: 10}}]
`

func TestAdmissionOfSchedules(t *testing.T) {
	const (
		loads    = "      loads: [{name: one, load: {requests: 10}}]\n"
		searched = "      search: {load: {durationSeconds: 30}}\n"
		p99      = "{type: Latency, operation: Put, statistic: P99}"
	)
	for name, tc := range map[string]struct {
		// old is replaced by new in scheduleText; an empty old appends new.
		old, new string
		// want is a part of the rejection; empty if the schedule is good.
		want string
	}{
		"plain":                   {"", "", ""},
		"metrics":                 {"", "  metrics: [{type: Throughput}, " + p99 + "]\n", ""},
		"a metric twice":          {"", "  metrics: [" + p99 + ", " + p99 + "]\n", "spec.metrics: Invalid value: has a metric twice"},
		"a metric that is lost":   {"", "  metrics: [{type: Latency, operation: Put, statistic: P95}]\n", "spec.metrics: Invalid value: must be Mean, P50, P90, P99"},
		"no metrics":              {"", "  metrics: []\n", "spec.metrics"},
		"a search":                {loads, searched, ""},
		"a search with metrics":   {loads, searched + "  metrics: [{type: Throughput}]\n", "spec.metrics: Invalid value: does not fit a search"},
		"a bad suite":             {"requests: 10", "requests: 0", "spec.suiteTemplate.spec.loads[0].load.requests"},
		"a suite without loads":   {loads, "", "set loads or search"},
		"no schedule":             {`schedule: "0 3 * * *"`, `schedule: ""`, "spec.schedule"},
		"sessions that overlap":   {"", "  concurrencyPolicy: Allow\n", "spec.concurrencyPolicy"},
		"a deadline of no length": {"", "  startingDeadlineSeconds: 0\n", "spec.startingDeadlineSeconds"},
		"no history":              {"", "  historyLimit: 0\n", "spec.historyLimit"},
		"acknowledgements":        {"", "  acknowledgements: [{session: a, cell: c1}, {session: a, cell: c2, metric: Put P99, reason: a new disk}]\n", ""},
		"acknowledges nothing":    {"", "  acknowledgements: [{reason: a new disk}]\n", "spec.acknowledgements[0].session"},
		"a long name":             {"generateName: nightly-", "name: " + strings.Repeat("n", 31), "at most 30 characters"},
		"the longest name":        {"generateName: nightly-", "name: " + strings.Repeat("n", 30), ""},
		"an unknown field":        {"", "  succesfulJobsHistoryLimit: 3\n", "unknown field"},
	} {
		t.Run(name, func(t *testing.T) {
			text := scheduleText + tc.new
			if tc.old != "" {
				text = strings.Replace(scheduleText, tc.old, tc.new, 1)
			}
			err := createSuite(t, suiteObject(t, text))
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(refusal(err), tc.want) {
				t.Errorf("wanted a rejection that says %q, found: %v", tc.want, err)
			}
		})
	}
}
