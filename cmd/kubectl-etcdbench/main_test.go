package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	ossignal "os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
)

// asCommand makes the test binary behave as kubectl-etcdbench.
const asCommand = "KUBECTL_ETCDBENCH_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

const puts = `
apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmark
metadata: {name: puts}
spec:
  target: {service: {name: etcd}}
  workload: {type: Put, put: {keys: {count: 2000}}}
  load: {pods: 3, connections: 6, clients: 30, requests: 2000}
`

const endless = `
apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmark
metadata: {name: endless}
spec:
  target: {service: {name: etcd}}
  workload: {type: Put, put: {}}
  load: {durationSeconds: 3600, rate: {perSecond: 100}}
  timeoutSeconds: 7200
`

// limited adds an objective to puts.
func limited(objective string) string { return puts + "  objectives: [" + objective + "]\n" }

const (
	canBeMet = `{name: o, type: Throughput, throughput: {minPerSecond: 1}}`
	// It is missed also if the load generator was a limit, as it can be on a busy machine.
	canBeMiss  = `{name: o, type: StartSkew, startSkew: {maxMicroseconds: 1}}`
	canNotTell = `{name: o, type: PeerRoundTrip, peerRoundTrip: {maxMicroseconds: 1}}`
)

// process is a process of kubectl-etcdbench with its own folder for temporary files.
func process(t *testing.T, stdin string, args ...string) (cmd *exec.Cmd, temporary string) {
	t.Helper()
	temporary = etcdtest.DataDir(t)
	cmd = exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1", "TMPDIR="+temporary, "KUBECONFIG="+filepath.Join(temporary, "none"))
	cmd.Stdin = strings.NewReader(stdin)
	return cmd, temporary
}

// maxWait is the time after which a process counts as hanging.
const maxWait = 2 * time.Minute

// started starts a process and returns its standard output or standard error, as pipe selects. It kills a process that
// hangs.
func started(t *testing.T, cmd *exec.Cmd, pipe func() (io.ReadCloser, error)) io.ReadCloser {
	t.Helper()
	out, err := pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hang := time.AfterFunc(maxWait, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() { hang.Stop() })
	return out
}

func exitStatus(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		t.Fatal(err)
	}
	return exit.ExitCode()
}

func TestExitStatus(t *testing.T) {
	local := slices.Clip([]string{"run", "--local", "--members", "1", "-f", "-"})
	cases := map[string]struct {
		stdin string
		args  []string
		want  int
		// wantErr is part of standard error.
		wantErr string
	}{
		"version":              {"", []string{"version"}, 0, ""},
		"help":                 {"", []string{"run", "--help"}, 0, ""},
		"unknown flag":         {"", []string{"run", "--no-such-flag"}, 2, "no-such-flag: kubectl etcdbench run --help lists the flags"},
		"no manifest":          {"", []string{"run"}, 2, "-f FILE"},
		"no such file":         {"", []string{"run", "-f", "/no/such/file"}, 2, "/no/such/file"},
		"unknown output":       {puts, []string{"run", "--local", "-f", "-", "-o", "xml"}, 2, "perfdash or jsonl"},
		"two forms at once":    {puts, append(local, "-o", "json", "-o", "jsonl"), 2, "FORM=FILE"},
		"no file for a form":   {puts, append(local, "-o", "perfdash="), 2, "wanted a file"},
		"no folder for a form": {puts, append(local, "-o", "perfdash=/no/such/folder/file"), 2, "/no/such/folder"},
		"negative interval":    {puts, append(local, "--interval", "-1s"), 2, "--interval"},
		"no interval":          {puts, append(local, "-o", "jsonl", "--interval", "0s"), 2, "--interval: wanted a time above 0, found 0s"},
		"no folder":            {puts, []string{"run", "--local", "-f", "-", "--endpoints", "127.0.0.1:1", "--tls-dir", "/no/such/folder"}, 2, "--tls-dir: wanted a folder with ca.crt"},
		"folder without files": {puts, []string{"run", "--local", "-f", "-", "--endpoints", "127.0.0.1:1", "--auth-dir", "."}, 2, "--auth-dir: wanted a folder with username and password"},
		"interval of nothing":  {puts, append(local, "--interval", "2s"), 2, "add -o jsonl"},
		"local flags, cluster": {puts, []string{"run", "-f", "-", "--members", "3"}, 2, "--local"},
		"an etcd that ends":    {puts, append(local, "--member-binary", "/bin/false"), 2, "member-0 ended (exit status 1; "},
		"no cluster":           {puts, []string{"run", "-f", "-"}, 2, "--local"},
		"watch without a name": {"", []string{"watch"}, 2, "name"},
		"service, local":       {puts, []string{"run", "--local", "-f", "-"}, 2, "--endpoints"},
		"bad manifest":         {strings.Replace(puts, "clients", "cleints", 1), local, 2, "line 8: spec.load.cleints"},
		"stopped already":      {puts + "  stop: true\n", local, 2, "line 9: spec.stop: "},
		"local, context":       {puts, append(local, "--context", "c"), 2, "--context"},
		"local, namespace":     {puts, append(local, "-n", "default"), 2, "--namespace"},
		"local, user":          {puts, append(local, "--as", "u"), 2, "--as"},
		"local, timeout":       {puts, append(local, "--timeout", "1m"), 2, "--timeout"},
		"version flag":         {"", []string{"--version"}, 0, ""},
		"extra argument":       {puts, append(local, "extra"), 2, `wanted no arguments, found "extra"`},
		"refused by a rule":    {strings.Replace(puts, "clients: 30", "clients: 3", 1), local, 2, "line 8: spec.load.clients: "},
		"target out of reach":  {puts, []string{"run", "--local", "-f", "-", "--endpoints", "127.0.0.1:1"}, 2, ""},
		"no objectives":        {puts, local, 0, ""},
		"objectives missed":    {limited(canBeMiss), local, 1, ""},
		"not judged":           {limited(canNotTell), local, 3, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var stderr strings.Builder
			cmd, temporary := process(t, tc.stdin, tc.args...)
			cmd.Stderr = &stderr
			if got := exitStatus(t, cmd.Run()); got != tc.want {
				t.Errorf("wanted exit status %d, got %d; standard error:\n%s", tc.want, got, stderr.String())
			}
			if !strings.Contains(stderr.String(), tc.wantErr) {
				t.Errorf("wanted %q in standard error:\n%s", tc.wantErr, stderr.String())
			}
			if left, _ := os.ReadDir(temporary); len(left) != 0 {
				t.Errorf("temporary files are left: %v", left)
			}
		})
	}
}

// passes runs puts with an objective that is met, against a number of members, and wants the run to pass. On a busy
// machine a pod can start late, the load generator can be the limit, or another member can be elected. Then Passed must
// be Unknown.
func passes(t *testing.T, members string) (run *v1alpha1.EtcdBenchmark, elected bool) {
	t.Helper()
	cmd, temporary := process(t, limited(canBeMet), "run", "--local", "--members", members, "-f", "-", "-o", "json")
	out, err := cmd.Output()
	run = &v1alpha1.EtcdBenchmark{}
	if err := json.Unmarshal(out, run); err != nil {
		t.Fatalf("standard output is not one JSON object: %v\n%s", err, out)
	}
	passed := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionPassed)
	if passed == nil {
		t.Fatalf("wanted the condition Passed, got %+v", run.Status.Conditions)
	}
	elected = strings.Contains(passed.Message, "The target changed ") && strings.Contains(passed.Message, "Leader: ")
	busy := elected || passed.Reason == v1alpha1.ReasonClientBound || passed.Reason == v1alpha1.ReasonStartsApart
	want, status := metav1.ConditionTrue, 0
	if busy && passed.Status == metav1.ConditionUnknown {
		want, status = metav1.ConditionUnknown, 3
	}
	if got := exitStatus(t, err); got != status || passed.Status != want {
		t.Errorf("wanted exit status %d and Passed=%s, got %d and %+v", status, want, got, passed)
	}
	if left, _ := os.ReadDir(temporary); len(left) != 0 {
		t.Errorf("the members' data is left: %v", left)
	}
	return run, elected
}

func TestLocalRunOnOneMember(t *testing.T) { passes(t, "1") }

func TestLocalRunOnThreeMembers(t *testing.T) {
	run, elected := passes(t, "3")
	s := run.Status.Summary
	if run.Kind != "EtcdBenchmark" || s.MeasuredRequests != 2000 || s.FailedRequests != 0 && !elected || len(run.Status.Target.Members) != 3 || len(run.Status.Pods) != 3 {
		t.Errorf("wanted 2,000 puts by 3 pods on 3 members, got %+v", run.Status)
	}
	l := s.Operations[0].Latency
	ascending := []int64{1, l.MinMicroseconds, l.P50Microseconds, l.P90Microseconds, l.P95Microseconds, l.P99Microseconds, l.P999Microseconds, l.MaxMicroseconds}
	for i, v := range ascending[1:] {
		if v < ascending[i] {
			t.Errorf("percentiles do not ascend: %v", ascending)
		}
	}
	for _, kind := range []string{v1alpha1.ConditionFinished, v1alpha1.ConditionCleaned} {
		if !meta.IsStatusConditionTrue(run.Status.Conditions, kind) {
			t.Errorf("wanted %s, got %+v", kind, run.Status.Conditions)
		}
	}
}

func TestSignalsGiveThePartialResult(t *testing.T) {
	// A process inherits the signals that its parent ignores. Notify ends the ignoring, so that the tool gets a hang-up
	// also if these tests run under nohup.
	hangUps := make(chan os.Signal, 1)
	ossignal.Notify(hangUps, syscall.SIGHUP)
	defer ossignal.Stop(hangUps)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) { signalGivesThePartialResult(t, signal) })
	}
}

func signalGivesThePartialResult(t *testing.T, signal syscall.Signal) {
	t.Helper()
	cmd, temporary := process(t, endless, "run", "--local", "--members", "1", "-f", "-", "-o", "yaml")
	var out strings.Builder
	cmd.Stdout = &out
	signalOnceMeasuring(t, cmd, signal, bufio.NewScanner(started(t, cmd, cmd.StderrPipe)))
	if got := exitStatus(t, cmd.Wait()); got != 3 {
		t.Errorf("wanted exit status 3, got %d", got)
	}
	run := &v1alpha1.EtcdBenchmark{}
	if err := yaml.Unmarshal([]byte(out.String()), run); err != nil {
		t.Fatal(err)
	}
	c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionFinished)
	if c == nil || c.Reason != v1alpha1.ReasonStopped || run.Status.Summary == nil || run.Status.Summary.MeasuredRequests == 0 {
		t.Fatalf("wanted the partial result of a stopped run, got:\n%s", out.String())
	}
	if !run.Status.Summary.Partial {
		t.Error("the result of a stopped run is not marked as partial")
	}
	if left, _ := os.ReadDir(temporary); len(left) != 0 {
		t.Errorf("the members' data is left: %v", left)
	}
}

func TestHangUpUnderNohup(t *testing.T) {
	brief := strings.Replace(endless, "durationSeconds: 3600", "durationSeconds: 10", 1)
	cmd, _ := process(t, brief, "run", "--local", "--members", "1", "-f", "-")
	cmd.Args = append([]string{"sh", "-c", `trap "" HUP; exec "$0" "$@"`}, cmd.Args...)
	cmd.Path = "/bin/sh"
	signalOnceMeasuring(t, cmd, syscall.SIGHUP, bufio.NewScanner(started(t, cmd, cmd.StderrPipe)))
	if got := exitStatus(t, cmd.Wait()); got != 0 {
		t.Errorf("wanted the run to complete, got exit status %d", got)
	}
}

// signalOnceMeasuring reads the progress to its end and sends the signal at the first throughput.
func signalOnceMeasuring(t *testing.T, cmd *exec.Cmd, signal os.Signal, progress *bufio.Scanner) {
	t.Helper()
	sent := false
	for progress.Scan() {
		if !sent && strings.Contains(progress.Text(), " p99 ") {
			sent = true
			if err := cmd.Process.Signal(signal); err != nil {
				t.Error(err)
			}
		}
	}
	if !sent {
		t.Error("no progress with a throughput was shown")
	}
}
