package command

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
)

func TestCheckRefuses(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "ca.crt")
	for name, tc := range map[string]struct {
		args        []string
		environment map[string]string
		want        string
	}{
		"no target":            {nil, nil, "ETCDCTL_ENDPOINTS"},
		"two targets":          {[]string{"--endpoints", "a:1", "--members", "1"}, nil, "give one of them"},
		"an unknown profile":   {[]string{"--endpoints", "a:1", "--profile", "huge"}, nil, `found "huge"`},
		"etcdctl's name, too":  {[]string{"--endpoints", "a:1", "--load=s", "--kubernetes-nodes", "50"}, nil, "both set the load"},
		"half a certificate":   {[]string{"--endpoints", "a:1", "--cacert", missing, "--cert", "x"}, nil, "belong together"},
		"no CA":                {[]string{"--endpoints", "a:1", "--cert", "x", "--key", "x"}, nil, "--cacert"},
		"a missing file":       {[]string{"--endpoints", "https://a:1", "--cacert", missing}, nil, missing},
		"HTTPS without a CA":   {[]string{"--endpoints", "https://a:1"}, nil, "CA certificate"},
		"from variables":       {nil, map[string]string{"ETCDCTL_ENDPOINTS": "https://a:1", "ETCDCTL_CACERT": missing}, missing},
		"a flag outweighs":     {[]string{"--cacert", missing}, map[string]string{"ETCDCTL_ENDPOINTS": "https://a:1", "ETCDCTL_CACERT": "other.crt"}, missing},
		"a user of members":    {[]string{"--members", "1", "--user", "root"}, nil, "neither TLS nor users"},
		"no password":          {[]string{"--endpoints", "a:1", "--user", "root"}, nil, "ETCDCTL_PASSWORD"},
		"no user":              {[]string{"--endpoints", "a:1", "--password", "x"}, nil, "--password needs --user"},
		"unchecked members":    {[]string{"--endpoints", "a:1", "--insecure-skip-tls-verify"}, nil, "give their CA with --cacert"},
		"no TLS, with a CA":    {nil, map[string]string{"ETCDCTL_ENDPOINTS": "http://a:1", "ETCDCTL_CACERT": "check_test.go"}, "ETCDCTL_CACERT asks for TLS"},
		"two loads":            {[]string{"--endpoints", "a:1", "--profile", "Small", "--kubernetes-nodes", "50"}, nil, "both set the load"},
		"too few nodes":        {[]string{"--endpoints", "a:1", "--kubernetes-nodes", "49"}, nil, "wanted 50 to 5,000, found 49"},
		"no nodes":             {[]string{"--endpoints", "a:1", "--kubernetes-nodes", "0"}, nil, "wanted 50 to 5,000, found 0"},
		"no interval":          {[]string{"--endpoints", "a:1", "--interval", "0s"}, nil, "--interval: wanted a time above 0"},
		"etcdctl's compaction": {[]string{"--endpoints", "a:1", "--auto-compact"}, nil, "run etcdctl compact"},
		"its defragmentation":  {[]string{"--endpoints", "a:1", "--auto-defrag=true"}, nil, "run etcdctl defrag"},
		"its prefix":           {[]string{"--endpoints", "a:1", "--prefix=\x00"}, nil, "keyPrefix"},
		"a flag of other runs": {[]string{"--endpoints", "a:1", "--timeout", "5s"}, nil, "unknown flag: --timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			for key, value := range tc.environment {
				t.Setenv(key, value)
			}
			c := call("", append([]string{"check"}, tc.args...)...)
			c.wantStatus(t, exitFailed)
			if !strings.Contains(c.err.String(), tc.want) {
				t.Errorf("found %s, wanted %q in it", c.err, tc.want)
			}
		})
	}
}

func TestAProfileHasTheNameThatEtcdctlGivesIt(t *testing.T) {
	for name, want := range map[string]string{"s": "Small", "m": "Medium", "l": "Large", "xl": "XLarge", "xLarge": "XLarge", "Medium": "Medium"} {
		f := checkFlags{profile: name}
		f.given = func(string) bool { return false }
		if got := f.load(); got != "profile: "+want {
			t.Errorf("%s: got %s, wanted the profile %s", name, got, want)
		}
	}
}

func TestAnswerOfACheck(t *testing.T) {
	run := func(change func(*v1alpha1.EtcdBenchmarkStatus)) *v1alpha1.EtcdBenchmark {
		b := &v1alpha1.EtcdBenchmark{Spec: v1alpha1.EtcdBenchmarkSpec{Profile: v1alpha1.ProfileSmall}}
		stage(v1alpha1.ReasonCompleted, metav1.ConditionTrue)(&b.Status)
		b.Status.Summary = &v1alpha1.Summary{ThroughputPerSecond: "150", DurationMicroseconds: 60e6, Operations: []v1alpha1.OperationSummary{{Operation: spec.OperationPut, Latency: &v1alpha1.LatencySummary{P99Microseconds: 30_000, MaxMicroseconds: 90_000}}}}
		change(&b.Status)
		return b
	}
	passed := func(status metav1.ConditionStatus) func(*v1alpha1.EtcdBenchmarkStatus) {
		return func(s *v1alpha1.EtcdBenchmarkStatus) {
			s.Conditions = append(s.Conditions, metav1.Condition{Type: v1alpha1.ConditionPassed, Status: status, Message: "slowest 900ms > 500ms."})
		}
	}
	// The rate stands beside its objective, which has it as a share.
	shared := func(s *v1alpha1.EtcdBenchmarkStatus) {
		passed(metav1.ConditionTrue)(s)
		s.Summary.ThroughputPerSecond = "149"
		s.Objectives = []v1alpha1.ObjectiveStatus{{Name: "slowest", Got: "90ms"}, {Name: "rate", Got: "99.96 % of the rate"}}
	}
	for name, tc := range map[string]struct {
		change func(*v1alpha1.EtcdBenchmarkStatus)
		want   []string
	}{
		"met":     {passed(metav1.ConditionTrue), []string{"Good enough for the profile Small", "150 of 150", "60s", "p99 30ms", "slowest 90ms"}},
		"share":   {shared, []string{"it answered 99.96 % of 150 puts per second"}},
		"missed":  {passed(metav1.ConditionFalse), []string{"Not good enough", "900ms > 500ms"}},
		"unknown": {passed(metav1.ConditionUnknown), []string{"No verdict"}},
		"stopped": {stage(v1alpha1.ReasonStopped, metav1.ConditionTrue), []string{"ended early", "Stopped: "}},
	} {
		got := answerOf(run(tc.change))
		for _, want := range tc.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: found %q, wanted %q in it", name, got, want)
			}
		}
	}
}

// The answer about nodes names what was measured and what was not. Members in memory come first.
func TestAnswerAboutNodes(t *testing.T) {
	run := &v1alpha1.EtcdBenchmark{Spec: v1alpha1.EtcdBenchmarkSpec{Kubernetes: &v1alpha1.KubernetesCluster{Nodes: 1500}}}
	stage(v1alpha1.ReasonCompleted, metav1.ConditionTrue)(&run.Status)
	run.Status.Conditions = append(run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionPassed, Status: metav1.ConditionTrue})
	run.Status.Summary = &v1alpha1.Summary{ThroughputPerSecond: "183.2", DurationMicroseconds: 60e6, Operations: []v1alpha1.OperationSummary{
		{Operation: spec.OperationListBy500, Latency: &v1alpha1.LatencySummary{P99Microseconds: 900_000}},
		{Operation: spec.OperationOptimisticPut, Latency: &v1alpha1.LatencySummary{P99Microseconds: 7_000}},
	}}
	want := "Kept up with the modelled requests of 1,500 nodes (183.2/s, p99 of writes 7ms) for 60s; not modelled: "
	if got := answerOf(run); !strings.HasPrefix(got, want) {
		t.Errorf("found %q, wanted %q", got, want)
	}
	disk, memory := v1alpha1.MemberDuration{Count: 1000, MeanNanoseconds: 900_000}, v1alpha1.MemberDuration{Count: 1000, MeanNanoseconds: 900}
	run.Status.Summary.Members = []v1alpha1.MemberSummary{{Name: "on-disk", WALFsync: &disk}, {Name: "in-memory", WALFsync: &memory}, {Name: "unread"}}
	if got := answerOf(run); !strings.HasPrefix(got, "The data of in-memory lies in memory") || !strings.Contains(got, want) {
		t.Errorf("found %q", got)
	}
	run.Status.Conditions[len(run.Status.Conditions)-1] = metav1.Condition{Type: v1alpha1.ConditionPassed, Status: metav1.ConditionFalse, Message: "writes 2s > 150ms."}
	if got := answerOf(run); !strings.Contains(got, "Did not keep up with the modelled requests of 1,500 nodes: writes 2s > 150ms.") {
		t.Errorf("found %q", got)
	}
}

// Standard output has the answer in few lines, and with --details everything. A form for programs stays alone there.
func TestWhereTheAnswerGoes(t *testing.T) {
	run := &v1alpha1.EtcdBenchmark{Spec: v1alpha1.EtcdBenchmarkSpec{Profile: v1alpha1.ProfileSmall}}
	stage(v1alpha1.ReasonCompleted, metav1.ConditionTrue)(&run.Status)
	run.Status.Conditions = append(run.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionPassed, Status: metav1.ConditionTrue})
	run.Status.Summary = &v1alpha1.Summary{ThroughputPerSecond: "150", DurationMicroseconds: 60e6, MeasuredRequests: 1, Operations: []v1alpha1.OperationSummary{{Operation: spec.OperationPut, Succeeded: 1, Latency: &v1alpha1.LatencySummary{}}}}
	const answer, details = "Good enough for the profile Small", "KEYS WRITTEN"
	for name, tc := range map[string]struct {
		args              []string
		out, notOut, errs string
		lines             int
	}{
		"the answer":  {nil, answer, details, "", render.BriefLines},
		"and details": {[]string{"--details"}, details, "--details", "", 1000},
		"JSON":        {[]string{"-o", "json"}, `"kind": "EtcdBenchmark"`, answer, answer, 1000},
		"a file":      {[]string{"-o", "json=" + filepath.Join(t.TempDir(), "x.json")}, answer, details, "", render.BriefLines},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs strings.Builder
			tool := &tool{kube: &kubeFlags{}, Streams: Streams{Out: &out, Err: &errs}}
			f, cmd := tool.newCheck()
			if err := cmd.Flags().Parse(tc.args); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(f.following.check(), f.destinations.open(&out, f.following), tool.showEnded(run, nil, f.following)); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), tc.out) || strings.Contains(out.String(), tc.notOut) || strings.Count(out.String(), "\n") > tc.lines {
				t.Errorf("standard output has:\n%s", out.String())
			}
			if !strings.Contains(errs.String(), tc.errs) || tc.errs == "" && strings.Contains(errs.String(), answer) {
				t.Errorf("standard error has:\n%s", errs.String())
			}
		})
	}
}
