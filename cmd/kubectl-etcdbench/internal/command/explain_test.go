package command

import (
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/internal/doctor"
	"github.com/etcdbench/etcd-benchmark-operator/internal/reasons"
)

func TestExplain(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want []string
	}{
		"one reason":          {[]string{"NoQuorum"}, []string{"NoQuorum: end of a run", "What to do: Check members that are down.", "docs/reasons.md"}},
		"lower case":          {[]string{"noquorum"}, []string{"NoQuorum: end of a run"}},
		"two meanings":        {[]string{"TailTooThin"}, []string{"TailTooThin: verdict", "TailTooThin: comparison"}},
		"two reasons":         {[]string{"Armed", "Late"}, []string{"Armed: stage", "Late: cause"}},
		"a finding":           {[]string{"slowflush"}, []string{"SlowFlush: finding of kubectl etcdbench doctor", "Limit: p99 below 10ms.", "Source: https://etcd.io/docs/", "At all members: Give", "docs/doctor.md"}},
		"a warning":           {[]string{"watchers missed 3 of 1,000 expected events"}, []string{"EventsMissed: warning"}},
		"without an argument": {nil, []string{"TargetChanged", "End of a run (docs/reasons.md)"}},
	} {
		c := call("", append([]string{"explain"}, tc.args...)...)
		c.wantStatus(t, exitDone)
		for _, want := range tc.want {
			if !strings.Contains(c.out.String(), want) {
				t.Errorf("%s: wanted %q in\n%s", name, want, c.out)
			}
		}
	}
}

func TestExplainListsAllReasons(t *testing.T) {
	c := call("", "explain")
	c.wantStatus(t, exitDone)
	for _, name := range append(reasons.Names(), doctor.Diagnose(doctor.Cluster{}).Looked...) {
		if !strings.Contains(c.out.String(), "  "+name+" ") {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestExplainOfAnUnknownReason(t *testing.T) {
	for word, want := range map[string]string{
		"NoQorum":   "did you mean NoQuorum?",
		"SlowFlash": "did you mean SlowFlush?",
		"tailtoo":   "did you mean TailTooThin?",
		"Nonsense!": `found "Nonsense!": kubectl etcdbench explain lists`,
	} {
		c := call("", "explain", word)
		c.wantStatus(t, exitFailed)
		if !strings.Contains(c.err.String(), want) {
			t.Errorf("%s: wanted %q, got %s", word, want, c.err)
		}
	}
}

func TestNoLineOfAnExplanationIsTooLong(t *testing.T) {
	for _, e := range reasons.All() {
		var out strings.Builder
		writeReason(&out, e)
		for line := range strings.Lines(out.String()) {
			if len([]rune(strings.TrimSpace(line))) > proseWidth {
				t.Errorf("%s: the line %q is too long", e.Name, line)
			}
		}
		if strings.Contains(out.String(), "`") {
			t.Errorf("found backticks in %s", out.String())
		}
	}
}
