package command

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

func TestStopARun(t *testing.T) {
	for state, want := range map[string]string{
		v1alpha1.StageQueued:     "which is Queued. It has written nothing.",
		v1alpha1.StagePreparing:  "which is Preparing. Nothing was measured yet.",
		v1alpha1.StageRunning:    "which is Running. The client pods wait",
		v1alpha1.StageCollecting: "which is Collecting. Its load is over.",
	} {
		t.Run(state, func(t *testing.T) {
			run := createdRun(t)
			key := client.ObjectKeyFromObject(run)
			operate(t, key, stage(state, metav1.ConditionFalse))
			c := call("", "stop", "puts", "-n", key.Namespace)
			c.wantStatus(t, exitDone)
			if !awaitRun(t, key, anyState).Spec.Stop {
				t.Error("spec.stop is not set")
			}
			for _, want := range []string{want, "kubectl etcdbench watch -n " + key.Namespace} {
				if !strings.Contains(c.out.String(), want) {
					t.Errorf("wanted %q in\n%s", want, c.out)
				}
			}
		})
	}
}

func TestStopWaitsForTheEnd(t *testing.T) {
	run := createdRun(t)
	key := client.ObjectKeyFromObject(run)
	operate(t, key, stage(v1alpha1.StageRunning, metav1.ConditionFalse))
	c := call("", "stop", "run/puts", "-n", key.Namespace, "--wait")
	awaitRun(t, key, func(run *v1alpha1.EtcdBenchmark) bool { return run.Spec.Stop })
	c.err.await(t, "Running")
	operate(t, key, stage(v1alpha1.ReasonStopped, metav1.ConditionTrue))
	c.wantStatus(t, exitDone)
	if !strings.Contains(c.out.String(), "has ended as Stopped") {
		t.Errorf("got\n%s", c.out)
	}

	again := call("", "stop", "puts", "-n", key.Namespace)
	again.wantStatus(t, exitDone)
	if !strings.Contains(again.out.String(), "had ended before, as Stopped") {
		t.Errorf("got\n%s", again.out)
	}
}

// The timeout limits waiting, not the request that stops the run.
func TestStopGivesUpWaiting(t *testing.T) {
	run := createdRun(t)
	c := call("", "stop", "puts", "-n", run.Namespace, "--wait", "--timeout", "1ms")
	c.wantStatus(t, exitUnknown)
	if !awaitRun(t, client.ObjectKeyFromObject(run), anyState).Spec.Stop {
		t.Error("spec.stop is not set")
	}
}

// An ended run stays as it is.
func TestStopOfAnEndedRun(t *testing.T) {
	run := createdRun(t)
	key := client.ObjectKeyFromObject(run)
	operate(t, key, stage(v1alpha1.ReasonCompleted, metav1.ConditionTrue))
	c := call("", "stop", "puts", "-n", key.Namespace)
	c.wantStatus(t, exitDone)
	if awaitRun(t, key, anyState).Spec.Stop || !strings.Contains(c.out.String(), "as Completed") {
		t.Errorf("wanted nothing to happen, got\n%s", c.out)
	}
}

func TestStopASuite(t *testing.T) {
	key := client.ObjectKey{Namespace: namespace(t), Name: "small"}
	call(smallSuite, "run", "-f", "-", "-n", key.Namespace, "--timeout", "1ms").wantStatus(t, exitUnknown)
	operateSuite(t, key, starts)
	current := awaitSuite(t, key, anySuite).Status.Current
	// No run has the name, so the name alone is enough.
	c := call("", "stop", "small", "-n", key.Namespace)
	c.wantStatus(t, exitDone)
	if !awaitSuite(t, key, anySuite).Spec.Stop || !strings.Contains(c.out.String(), "The run "+current+" is stopped") || !strings.Contains(c.out.String(), "suite/small") {
		t.Errorf("got\n%s", c.out)
	}
}

func TestStopRefuses(t *testing.T) {
	ns := namespace(t)
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"nothing":       {nil, "found 0"},
		"no such run":   {[]string{"nothing"}, "found no run and no suite"},
		"a schedule":    {[]string{"schedule/nightly"}, `"suspend":true`},
		"another kind":  {[]string{"pod/x"}, "wanted NAME, run/NAME or suite/NAME"},
		"useless limit": {[]string{"x", "--timeout", "1m"}, "add --wait"},
		"negative time": {[]string{"x", "--wait", "--timeout", "-1m"}, "wanted a time of 0 or more"},
	} {
		c := call("", append([]string{"stop", "-n", ns}, tc.args...)...)
		c.wantStatus(t, exitFailed)
		if !strings.Contains(c.err.String(), tc.want) {
			t.Errorf("%s: wanted %q, got %s", name, tc.want, c.err)
		}
	}
}
