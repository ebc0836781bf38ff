package guard

import (
	"hash/fnv"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/render"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// measuring makes results.
type measuring struct {
	// requests is how many requests of each operation succeed in a pod.
	requests int
	// slower multiplies all latencies.
	slower float64
	// failures: some requests fail or have no answer. changes: the target changed.
	failures, changes bool
}

// measuredBy varies with the name of a run.
func measuredBy(name string) measuring {
	return measuring{requests: 200, slower: 1, failures: seedOf(name)%3 > 0, changes: seedOf(name)%2 > 0}
}

func seedOf(name string) uint64 {
	sum := fnv.New64a()
	sum.Write([]byte(name))
	return sum.Sum64()
}

// pods returns the results of all pods of a plan. The latencies follow from the run's name.
func (m measuring) pods(t *testing.T, p plan.Plan) (pods []*results.Snapshot) {
	t.Helper()
	for index := range p.Pods() {
		pods = append(pods, m.pod(t, p, index))
	}
	return pods
}

func (m measuring) pod(t *testing.T, p plan.Plan, index int) *results.Snapshot {
	t.Helper()
	random, part := rand.New(rand.NewPCG(seedOf(p.Name), uint64(index))), must[plan.Part](t)(p.Part(index))
	length := max(p.Load.Duration(), 10*time.Second)
	s := runtest.Measured(index, m.requests, runtest.Throttled(float64(index)/100))
	s.Process.Machine = results.Machine{Processor: "a processor", Kernel: "6.1", MemoryBytes: 8 << 30}
	s.RunUID, s.Transport, s.KeyBytes = p.RunUID, p.Load.Transport, workload.New(p.Run).KeyBytes()
	s.Window = results.Window{
		StartAt: at, Start: at.Add(time.Duration(index) * time.Millisecond), Skew: time.Duration(index) * time.Millisecond,
		PlannedRequests: uint64(part.Requests), Planned: p.Load.Duration(),
	}
	s.Window.End = s.Window.Start.Add(length)
	s.Window.LastResponse = s.Window.End
	s.Operations = map[spec.Operation]*results.OperationResult{}
	s.Started = 0
	for _, operation := range p.Operations() {
		s.Operations[operation] = m.operation(s, random, p.Load.OpenLoop(), length)
	}
	s.Timeline, s.Heatmap = s.Timeline.Folded(6, 0), s.Heatmap.Folded(6, 0)
	m.addRest(p, s)
	return s
}

// operation returns the result of an operation, and adds its requests to the snapshot's course.
func (m measuring) operation(s *results.Snapshot, random *rand.Rand, open bool, length time.Duration) *results.OperationResult {
	op := &results.OperationResult{Errors: map[string]uint64{}, CompletedInWindow: uint64(m.requests)}
	var usual [6]time.Duration
	for i := range usual {
		usual[i] = time.Duration(m.slower * float64(200_000+random.Int64N(100_000)<<i))
	}
	for i := range m.requests {
		latency := usual[random.IntN(len(usual))]
		late := latency / 64 * time.Duration(i%2)
		op.Service.Record(int64(latency))
		op.Lateness.Record(int64(late))
		wait := late
		if open {
			op.Net.Record(int64(latency))
		}
		if open && i%4 == 0 {
			op.Backlog.Record(int64(latency / 8))
			wait += latency / 8
		}
		op.Latency.Record(int64(latency + wait))
		s.Timeline.Record(length*time.Duration(i)/time.Duration(m.requests), latency, true)
		s.Heatmap.Record(length*time.Duration(i)/time.Duration(m.requests), latency)
	}
	op.Lost, op.Attempts = 7, uint64(m.requests)+9
	s.Started += uint64(m.requests)
	if m.failures {
		op.Errors = map[string]uint64{"Unavailable": 2, "DeadlineExceeded": 1}
		op.Examples.Add("Unavailable", "etcdserver: leader changed")
		for i := range 3 {
			op.Failed.Record(int64(usual[i]))
			s.Timeline.Record(length/2, usual[i], false)
		}
		op.Censored.Record(int64(usual[0]))
		s.Started += 4
	}
	return op
}

// addRest adds what is not about single requests.
func (m measuring) addRest(p plan.Plan, s *results.Snapshot) {
	if p.Load.OpenLoop() {
		s.Arrivals = results.Arrivals{Lacking: 3, Skipped: 1, Bunched: 2, Busy: 3 * time.Second}
	} else {
		s.Pauses = results.Pauses{Count: 5, Total: 40 * time.Millisecond}
	}
	store, _ := p.Target.Datastore.Store()
	s.Requests = map[spec.RPC]map[results.Phase]uint64{}
	for i, rpc := range store.RPCs[:5] {
		s.Requests[rpc] = map[results.Phase]uint64{
			results.PhasePreload: uint64(i), results.PhaseWarmup: uint64(2 * i), results.PhaseMeasured: uint64(100 + i), results.PhaseControl: 3,
		}
	}
	if _, watches := s.Operations[spec.OperationWatchEvent]; watches {
		s.Watch = results.Watch{Watchers: 4, Expected: uint64(m.requests) + 3, Missed: 3, Duplicate: 2, Cancelled: 1, Resumed: 1, Replays: 9}
	}
	if s.Index > 0 {
		return
	}
	members := []*results.MemberWindow{runtest.Flushed(1000), runtest.Flushed(400), runtest.Flushed(400)}
	runtest.Told(members...)(s)
	s.Target.WriteEstimateBytes, s.Target.AnsweredBy = 1<<20, map[string][]string{}
	for i := range s.Target.Members {
		member, endpoint := &s.Target.Members[i], p.Target.Endpoints[i%len(p.Target.Endpoints)]
		member.Endpoint, member.Version, member.DatabaseBytes, member.QuotaBytes, member.ResidentMemoryBytes = endpoint, "3.6.4", 1<<20, 1<<31, 1<<28
		s.Target.AnsweredBy[endpoint] = append(s.Target.AnsweredBy[endpoint], member.ID)
	}
	if m.changes {
		s.Target.Changes = []results.Change{{Aspect: results.AspectLeader, Detail: "etcd-a, then etcd-b", At: at.Add(time.Second)}}
	}
	s.Samples = map[string]*results.Samples{"a": {
		At:     []time.Duration{0, time.Second, 2 * time.Second},
		Values: map[results.Figure][]float64{results.FigurePendingNow: {0, 3, 1}, results.FigureDatabaseNowBytes: {1e6, 2e6, results.NoValue}},
	}}
	s.Disturbances = nil
	for i, d := range p.Disturbances {
		if s.Disturbances == nil {
			s.Disturbances = map[spec.DisturbanceType]*results.Disturbance{}
		}
		one := &results.Disturbance{LeftOut: 1}
		one.Record(results.Mark{After: time.Duration(i+1) * time.Second, Took: 200 * time.Millisecond}, "")
		one.Record(results.Mark{After: time.Duration(i+3) * time.Second, Took: 100 * time.Millisecond}, "no leader")
		s.Disturbances[d.Type] = one
	}
}

// finish writes the status of a completed run, and returns its report.
func finish(t *testing.T, b *v1alpha1.EtcdBenchmark, p plan.Plan, pods []*results.Snapshot) []byte {
	t.Helper()
	s := &b.Status
	b.KeepResolved()
	s.ObservedGeneration, s.StartAt = b.Generation, new(metav1.NewMicroTime(at))
	s.StartTime, s.CompletionTime = new(metav1.NewTime(at)), new(metav1.NewTime(at.Add(time.Minute)))
	s.Target = benchmark.TargetStatus(b, p.Target.Endpoints, results.TargetOf(pods))
	for _, pod := range pods {
		status := benchmark.Pod(pod)
		status.Name, status.Node, status.Source = b.Name+"-"+string(rune('a'+pod.Index)), "node", v1alpha1.SourceScrape
		s.Pods = append(s.Pods, status)
	}
	summary := results.Summarize(pods)
	s.Summary = benchmark.Summary(b, summary)
	objectives, passed := verdict.Judge(b, &summary, v1alpha1.ReasonCompleted)
	s.Objectives = objectives
	conditions := []metav1.Condition{
		{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonCompleted, Message: benchmark.EndingMessage(b, v1alpha1.ReasonCompleted, "")},
		{Type: v1alpha1.ConditionCleaned, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonKeysDeleted},
	}
	if passed != nil {
		conditions = append(conditions, *passed)
	}
	s.Conditions = nil
	for _, c := range conditions {
		benchmark.SetCondition(&s.Conditions, c, b.Generation, at)
	}
	s.Display = render.Display(b)
	return must[[]byte](t)(benchmark.Report(b, summary))
}
