package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

const prefix = "etcdbench/0b6c6b52/"

// planFor is a plan of 3,000 puts; changes are applied to it.
func planFor(endpoints []string, changes ...func(*plan.Plan)) plan.Plan {
	p := plan.Plan{
		Version: plan.Version, RunUID: "0b6c6b52-0000-4000-8000-000000000000", Name: "etcd/write", TimeoutSeconds: 120,
		Target: plan.Target{Datastore: spec.Etcd, Endpoints: endpoints, Members: spec.MembersAll},
		Run: workload.Run{
			Prefix:   prefix,
			Workload: spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{Keys: keys(), Values: values()}},
			Load: spec.Load{
				Transport: spec.TransportClient, Pods: 1, Connections: 6, Clients: 30, Requests: new(int64(3_000)), RequestTimeoutSeconds: 10, Seed: 1,
			},
		},
		// It may write any amount, and no rule ends it.
		Guard: spec.Guard{AcceptWrites: true, StopOn: &spec.StopRules{}},
	}
	for _, change := range changes {
		change(&p)
	}
	return p
}

func keys() spec.Keys { return spec.Keys{Count: 2_000, SizeBytes: 8, Distribution: spec.Sequential} }

func values() spec.Values {
	return spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 256}
}

// endless is a load that is longer than any test.
func endless(p *plan.Plan) { p.Load.Requests, p.Load.DurationSeconds = nil, new(int32(60)) }

func oneMember(t *testing.T) (*etcdtest.Cluster, *clientv3.Client) {
	t.Helper()
	cluster := etcdtest.Start(t, 1, nil)
	return cluster, cluster.Client(t, "", "")
}

// keysLeft counts the keys under the run's prefix.
func keysLeft(t *testing.T, c *clientv3.Client) int64 {
	t.Helper()
	found, err := c.Get(t.Context(), prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		t.Fatal(err)
	}
	return found.Count
}

func startNow() string { return time.Now().Add(300 * time.Millisecond).Format(time.RFC3339Nano) }

// The whole life of a run of three pods, with the test in the operator's place.
func TestThreePodsRunOnePlan(t *testing.T) {
	cluster, client := oneMember(t)
	pods := make([]*pod, 3)
	for i := range pods {
		pods[i] = newPod(t, planFor(cluster.Endpoints, func(p *plan.Plan) { p.Load.Pods, p.Load.WarmupSeconds = 3, 1 })).start(i)
	}
	for _, p := range pods {
		p.reaches(results.StageReady)
		if status := p.get(plan.ReadyPath).StatusCode; status != http.StatusOK {
			t.Errorf("a pod that waits for the start answers %d", status)
		}
		if status := p.get(plan.CoursePath).StatusCode; status != http.StatusNotFound {
			t.Errorf("the course of a pod that has not measured: %d", status)
		}
	}
	at := startNow()
	for _, p := range pods {
		p.control(plan.StartAtFile, at)
	}
	var scraped []*results.Snapshot
	for i, p := range pods {
		s := p.reaches(results.StageDone)
		scraped = append(scraped, s)
		s.Course = p.course().Course
		if s.Index != i || s.Cleaning != results.CleaningKeysDeleted || s.Stopped || s.Failure != nil || s.Window.Skew > 5*time.Second {
			t.Errorf("pod %d ends as %+v", i, s)
		}
	}
	merged := results.Merge(scraped)
	puts := merged.Operations[spec.OperationPut]
	if n := measuredOver(merged.Course); n != 3_000 {
		t.Errorf("the course has %d puts", n)
	}
	if puts.Latency.Count() != 3_000 || merged.Requests[spec.RPCPut][results.PhaseMeasured] != 3_000 {
		t.Errorf("%d puts measured, %v sent; wanted 3000", puts.Latency.Count(), merged.Requests)
	}
	if n := keysLeft(t, client); n != 0 {
		t.Errorf("%d keys are left", n)
	}
	for _, p := range pods {
		p.control(plan.CollectedFile, "true")
		if code := p.exits(10 * time.Second); code != exitDone {
			t.Errorf("exit code %d", code)
		}
	}
	for i, p := range pods {
		// Metrics and message have the same result, each with its own clock reading.
		message := p.terminationMessage()
		// A message has room for fewer points; with many buckets in its histograms, for none.
		if n := len(message.Timeline.Points); n > 0 {
			scraped[i].Timeline = scraped[i].Timeline.Folded(n, 0)
		} else {
			scraped[i].Timeline = results.Timeline{}
		}
		scraped[i].Heatmap, scraped[i].Samples = results.Heatmap{}, nil
		same := cmp.Options{cmpopts.IgnoreFields(results.Snapshot{}, "Operations", "Omitted", "Clock"), cmpopts.IgnoreFields(results.Point{}, "Opened", "Closed"), cmpopts.EquateApproxTime(time.Microsecond)}
		if diff := cmp.Diff(scraped[i], message, same); diff != "" {
			t.Errorf("pod %d: the termination message differs (-scraped +message):\n%s", i, diff)
		}
	}
}

// measuredOver is the number of successes in a heatmap, if the timeline has as many.
func measuredOver(c results.Course) (n uint64) {
	for i := range c.Heatmap.Columns {
		n += c.Heatmap.Columns[i].Count()
	}
	if results.Sum(c.Timeline.Points).Succeeded != n {
		return 0
	}
	return n
}

// measuredPuts is the number of puts with a latency in a snapshot.
func measuredPuts(s *results.Snapshot) uint64 {
	o, ok := s.Operations[spec.OperationPut]
	if !ok {
		return 0
	}
	return o.Latency.Count()
}

// On SIGTERM, at any stage, a pod deletes its keys, writes its termination message and exits within its grace period of
// a minute.
func TestTerminationAtEachStage(t *testing.T) {
	cluster, client := oneMember(t)
	tests := map[results.Stage]struct {
		change  func(*plan.Plan)
		start   bool
		stopped bool
	}{
		results.StageReady:     {endless, false, true},
		results.StageWarmingUp: {func(p *plan.Plan) { endless(p); p.Load.WarmupSeconds = 30 }, true, true},
		results.StageMeasuring: {endless, true, true},
		results.StageDone:      {func(*plan.Plan) {}, true, false},
	}
	for stage, tc := range tests {
		t.Run(string(stage), func(t *testing.T) {
			p := newPod(t, planFor(cluster.Endpoints, tc.change)).start(0)
			if tc.start {
				p.control(plan.StartAtFile, startNow())
			}
			p.reaches(stage)
			if stage == results.StageMeasuring {
				p.awaits("its first answer", func(s *results.Snapshot) bool { return measuredPuts(s) > 0 })
			}
			p.terminate()
			if code := p.exits(30 * time.Second); code != exitDone {
				t.Errorf("exit code %d, wanted %d", code, exitDone)
			}
			s := p.terminationMessage()
			if s.Stopped != tc.stopped || s.Cleaning != results.CleaningKeysDeleted || s.Failure != nil {
				t.Errorf("termination message: stopped %v, %s, failure %v", s.Stopped, s.Cleaning, s.Failure)
			}
			if measured := measuredPuts(s); (stage == results.StageMeasuring || stage == results.StageDone) != (measured > 0) {
				t.Errorf("%d requests measured", measured)
			}
			if n := keysLeft(t, client); n != 0 {
				t.Errorf("%d keys are left", n)
			}
		})
	}
}

func TestTerminationWhileTheTargetDoesNotAnswer(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	p := newPod(t, planFor([]string{silent.Addr().String()})).start(0)
	p.reaches(results.StageConnecting)
	if status := p.get(plan.ReadyPath).StatusCode; status != http.StatusServiceUnavailable {
		t.Errorf("a pod that is not connected answers %d", status)
	}
	p.terminate()
	if code := p.exits(15 * time.Second); code != exitDone {
		t.Errorf("exit code %d, wanted %d", code, exitDone)
	}
	if s := p.terminationMessage(); !s.Stopped || s.Cleaning != results.CleaningNothingWritten {
		t.Errorf("termination message: stopped %v, %s", s.Stopped, s.Cleaning)
	}
}

func TestTheStopFileEndsTheLoad(t *testing.T) {
	cluster, _ := oneMember(t)
	p := newPod(t, planFor(cluster.Endpoints, endless)).start(0)
	p.control(plan.StartAtFile, startNow())
	p.awaits("measured requests", func(s *results.Snapshot) bool {
		return s.Operations[spec.OperationPut] != nil && s.Operations[spec.OperationPut].Latency.Count() > 100
	})
	p.control(plan.StopFile, "true")
	s := p.reaches(results.StageDone)
	if !s.Stopped || s.Cleaning != results.CleaningKeysDeleted || s.Operations[spec.OperationPut].Latency.Count() < 100 {
		t.Errorf("stopped %v, %s", s.Stopped, s.Cleaning)
	}
	p.control(plan.CollectedFile, "true")
	if code := p.exits(10 * time.Second); code != exitDone {
		t.Errorf("exit code %d", code)
	}
}

func TestAFailedPodReportsTheReasonAndExits(t *testing.T) {
	cluster, client := oneMember(t)
	if _, err := client.Put(t.Context(), prefix+"00000000", "precious"); err != nil {
		t.Fatal(err)
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refusing := closed.Addr().String()
	_ = closed.Close()
	tests := map[string]struct {
		endpoints []string
		reason    results.FailureReason
		names     string
	}{
		"a refused connection": {[]string{refusing}, results.FailureTargetUnreachable, refusing},
		"a prefix of others":   {cluster.Endpoints, results.FailurePrefixNotEmpty, prefix},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPod(t, planFor(tc.endpoints)).start(0)
			if code := p.exits(45 * time.Second); code != exitFailed {
				t.Errorf("exit code %d, wanted %d", code, exitFailed)
			}
			f := p.terminationMessage().Failure
			if f == nil || f.Reason != tc.reason || !strings.Contains(f.Message, tc.names) {
				t.Errorf("termination message: %+v, wanted %s and %s", f, tc.reason, tc.names)
			}
		})
	}
}

func TestABadPlanIsRefused(t *testing.T) {
	newer := func(text string) string {
		return strings.Replace(text, fmt.Sprintf(`"version": %d`, plan.Version), fmt.Sprintf(`"version": %d, "news": true`, plan.Version+1), 1)
	}
	elsewhere := func(text string) string { return strings.Replace(text, "127.0.0.1:1", "127.0.0.1:2", 1) }
	tests := map[string]struct {
		change  func(string) string
		decodes bool
		// names is the cause in the message.
		names string
		// anyPlan: the pod gets no digest.
		anyPlan bool
	}{
		"another version":        {newer, true, "the same version", true},
		"no JSON":                {func(string) string { return "{" }, false, "", true},
		"not the operator's own": {elsewhere, true, "the plan was replaced: found a plan with the SHA-256", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			want := planFor([]string{"127.0.0.1:1"})
			p := newPod(t, want)
			text, err := os.ReadFile(p.dir + "/plan/" + plan.File)
			if err != nil {
				t.Fatal(err)
			}
			p.write("plan/"+plan.File, tc.change(string(text)))
			if tc.anyPlan {
				p.planDigest = ""
			}
			p.start(0)
			if code := p.exits(10 * time.Second); code != exitFailed {
				t.Errorf("exit code %d, wanted %d", code, exitFailed)
			}
			words, err := os.ReadFile(p.terminationFile())
			if err != nil || !strings.Contains(string(words), string(results.FailureInvalidPlan)) {
				t.Errorf("termination message %q, %v", words, err)
			}
			if !tc.decodes {
				return
			}
			if s := p.terminationMessage(); s.RunUID != want.RunUID || s.Failure == nil || s.Failure.Reason != results.FailureInvalidPlan || !strings.Contains(s.Failure.Message, tc.names) {
				t.Errorf("termination message of run %q: %+v", s.RunUID, s.Failure)
			}
		})
	}
}

// Without its port the run continues: the termination message has the result.
func TestAPortThatIsTakenIsNotFatal(t *testing.T) {
	cluster, _ := oneMember(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	p := newPod(t, planFor(cluster.Endpoints))
	p.control(plan.StartAtFile, startNow())
	p.control(plan.CollectedFile, "true")
	p.metricsAddress = taken.Addr().String()
	p.start(0)
	if code := p.exits(30 * time.Second); code != exitDone {
		t.Errorf("exit code %d", code)
	}
	if n := p.terminationMessage().Operations[spec.OperationPut].Latency.Count(); n != 3_000 {
		t.Errorf("termination message have %d requests, wanted 3000", n)
	}
}

// The cleanup spares the keys of a pod that lives. It deletes those of a pod that is frozen, and that pod writes nothing when
// it goes on.
func TestCleanWaitsUntilAPodSendsNothing(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	slow := planFor(cluster.Endpoints, endless, func(p *plan.Plan) {
		p.TimeoutSeconds, p.Load.DurationSeconds, p.Load.RequestTimeoutSeconds = 900, new(int32(800)), 1
		p.Load.Rate = &spec.Rate{PerSecond: 50, Arrival: spec.ArrivalConstant}
	})
	p := newPod(t, slow).start(0)
	p.control(plan.StartAtFile, startNow())
	p.awaits("measured requests", func(s *results.Snapshot) bool {
		return s.Operations[spec.OperationPut] != nil && s.Operations[spec.OperationPut].Latency.Count() > 20
	})
	live := newPod(t, slow).start(0, "clean")
	if code := live.exits(time.Minute); code != plan.ExitStillWrites {
		t.Errorf("clean beside a live pod: exit code %d", code)
	}
	if message, err := os.ReadFile(live.terminationFile()); err != nil || !strings.HasPrefix(string(message), string(results.FailurePodStillWrites)+": ") {
		t.Errorf("termination message %q, %v", message, err)
	}
	if n := keysLeft(t, client); n < 20 {
		t.Errorf("%d keys of a live run are left", n)
	}
	p.signal(syscall.SIGSTOP)
	if code := newPod(t, slow).start(0, "clean", "--"+plan.PodTimeoutFlag+"=1m").exits(3 * time.Minute); code != exitDone {
		t.Errorf("clean beside a frozen pod: exit code %d", code)
	}
	if n := keysLeft(t, client); n != 0 {
		t.Errorf("%d keys are left", n)
	}
	p.control(plan.CollectedFile, "true")
	p.signal(syscall.SIGCONT)
	if code := p.exits(2 * time.Minute); code != exitFailed {
		t.Errorf("the pod that was given up: exit code %d", code)
	}
	if f := p.terminationMessage().Failure; f == nil || f.Reason != results.FailureOwnershipLost {
		t.Errorf("the pod that was given up: %+v", f)
	}
	if n := keysLeft(t, client); n != 0 {
		t.Errorf("the pod that was given up wrote %d keys", n)
	}
}

func TestCleanKeepsTheKeysOfAnotherRun(t *testing.T) {
	cluster, client := oneMember(t)
	// The run could have written the key that is older than the marker.
	for _, kv := range [][2]string{{prefix + "00000000", "precious"}, {prefix + ".owner", "another run"}} {
		if _, err := client.Put(t.Context(), kv[0], kv[1]); err != nil {
			t.Fatal(err)
		}
	}
	p := newPod(t, planFor(cluster.Endpoints)).start(0, "clean")
	if code := p.exits(30 * time.Second); code != exitFailed {
		t.Errorf("exit code %d, wanted %d", code, exitFailed)
	}
	message, err := os.ReadFile(p.terminationFile())
	if err != nil || !strings.Contains(string(message), "another run") {
		t.Errorf("termination message %q, %v: wanted it to name the owner", message, err)
	}
	if n := keysLeft(t, client); n != 2 {
		t.Errorf("%d of 2 keys are left", n)
	}
}
