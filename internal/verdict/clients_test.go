package verdict

import (
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results/wire"
	"github.com/etcdbench/etcd-benchmark-operator/internal/runtest"
)

// idle has the figures of ten seconds of a pod that was no limit.
func idle(change ...func(map[results.ProcessFigure]float64)) *results.ProcessWindow {
	w := &results.ProcessWindow{Figures: map[results.ProcessFigure]float64{
		results.ProcessWindowSeconds: 10, results.ProcessCPUSeconds: 4, results.ProcessProcessors: 2, results.ProcessThrottledSeconds: 0,
		results.ProcessGoroutineDelaySeconds: 100e-6, results.ProcessGoroutineDelayTotalSeconds: 1e-3, results.ProcessThreadDelaySeconds: 1e-3,
		results.ProcessThreadWakeups: 100, results.ProcessGoroutineWakeups: 300, results.ProcessCollectionRatio: 0.02,
	}}
	for _, c := range change {
		c(w.Figures)
	}
	return w
}

func with(f results.ProcessFigure, v float64) func(map[results.ProcessFigure]float64) {
	return func(figures map[results.ProcessFigure]float64) { figures[f] = v }
}

func unknown(f results.ProcessFigure) func(map[results.ProcessFigure]float64) {
	return func(figures map[results.ProcessFigure]float64) { delete(figures, f) }
}

// served is a pod whose requests had this service time and this lateness.
func served(w *results.ProcessWindow, latency, lateness time.Duration) *results.Snapshot {
	s := pod(0, 10*time.Second, 0)
	s.Process = w
	put := s.Operations[spec.OperationPut]
	for range 100 {
		put.Latency.Record(int64(latency))
		put.Service.Record(int64(latency))
		if lateness > 0 {
			put.Lateness.Record(int64(lateness))
		}
	}
	put.CompletedInWindow, s.Started = 100, 100
	return s
}

func TestValidity(t *testing.T) {
	const (
		ms, us               = time.Millisecond, time.Microsecond
		valid, bound, unsure = v1alpha1.ValidityValid, v1alpha1.ValidityClientBound, v1alpha1.ValidityUnknown
		used, throttling     = results.ProcessCPUSeconds, results.ProcessThrottledSeconds
		processors, quota    = results.ProcessProcessors, results.ProcessQuotaProcessors
		goroutines, threads  = results.ProcessGoroutineDelayTotalSeconds, results.ProcessThreadDelaySeconds
		collection, loop     = results.ProcessCollectionRatio, results.ProcessLoopBusyRatio
	)
	type pods = []*results.Snapshot
	lost := withoutBuckets(t, "etcdbench_request_lateness_seconds", served(idle(), ms, 100*us))
	mute := served(idle(), ms, 0)
	watched := served(idle(with(goroutines, 30e-3)), 4*ms, 0)
	watched.Operations[spec.OperationWatchDelivery] = served(idle(), us, 0).Operations[spec.OperationPut]
	mute.Operations = map[spec.Operation]*results.OperationResult{}
	failed := runtest.Measured(0, 0, runtest.Failing(100, "InvalidArgument", ms))
	failed.Process = idle()
	tests := map[string]struct {
		pods pods
		want v1alpha1.ValidityVerdict
		// causes of the verdict, in order.
		causes string
		// part is a part of the first reason.
		part string
	}{
		"nothing shows":             {pods{served(idle(), ms, 0)}, valid, "", ""},
		"throttled a little":        {pods{served(idle(with(throttling, 0.1)), ms, 0)}, valid, "", ""},
		"throttled":                 {pods{served(idle(with(throttling, 0.22), with(quota, 1.5)), ms, 0)}, bound, "Throttled", "1.1 % of the window"},
		"each of many a little":     {pods{served(idle(with(throttling, 0.7), with(processors, 8), with(quota, 8)), ms, 0)}, valid, "", ""},
		"each of many":              {pods{served(idle(with(throttling, 25), with(processors, 8), with(quota, 8)), ms, 0)}, bound, "Throttled", "31.2 % of the window"},
		"no processor runs":         {pods{served(idle(with(throttling, 25), with(used, 0.5), with(quota, 0.1)), ms, 0)}, bound, "Throttled", "100.0 % of the window"},
		"most of the quota":         {pods{served(idle(with(used, 8.6), with(quota, 1)), ms, 0)}, bound, "Busy", "86 % of the 1 processors"},
		"half of the quota":         {pods{served(idle(with(used, 5), with(quota, 1)), ms, 0)}, valid, "", ""},
		"a quota of no use":         {pods{served(idle(with(used, 18), with(quota, 64)), ms, 0)}, bound, "Busy", "90 % of the 2 processors"},
		"most of the machine":       {pods{served(idle(with(used, 17.2)), ms, 0)}, bound, "Busy", "86 %"},
		"goroutines wait":           {pods{served(idle(with(goroutines, 29e-3)), ms, 0)}, bound, "Delayed", "300µs per request"},
		"threads of little load":    {pods{served(idle(with(threads, 29e-3), with(results.ProcessThreadWakeups, 8000)), ms, 0)}, valid, "", ""},
		"goroutines of loops":       {pods{fast(served(idle(with(goroutines, 29e-3)), ms, 0))}, valid, "", ""},
		"a wait that is harmless":   {pods{served(idle(with(goroutines, 29e-3)), 4*ms, 0)}, valid, "", ""},
		"a busy loop":               {pods{fast(served(idle(with(loop, 0.86)), ms, 0))}, bound, "Loop", "86 % of the window"},
		"a loop that waits":         {pods{fast(served(idle(with(loop, 0.85)), ms, 0))}, valid, "", ""},
		"a loop that was paused":    {pods{fast(served(idle(with(loop, 1), with(threads, 3)), ms, 0))}, bound, "Delayed", "per request"},
		"a loop that is never free": {pods{fast(served(idle(with(loop, 1), with(threads, 3), with(results.ProcessThreadWakeups, 800_000)), ms, 0))}, bound, "Loop", "100 % of the window"},
		"events are left out":       {pods{watched}, valid, "", ""},
		"threads wait":              {pods{served(idle(with(threads, 29e-3)), ms, 0)}, bound, "Delayed", "300µs per request"},
		"late":                      {pods{served(idle(), ms, 300*us)}, bound, "Late", "sent Put requests up to 300µs late (p90)"},
		"lateness that is harmless": {pods{served(idle(), 4*ms, 300*us)}, valid, "", ""},
		"one pod of two":            {pods{served(idle(), ms, 0), at(1, served(idle(with(throttling, 5)), ms, 0))}, bound, "Throttled", "Client pod 1 used up its CPU quota"},
		"all at once":               {pods{fast(served(idle(with(throttling, 5), with(used, 18), with(threads, 1), with(loop, 1)), ms, ms))}, bound, "Throttled", "25.0 %"},
		"no control group":          {pods{served(idle(unknown(throttling)), ms, 0)}, unsure, "Unread", "client pod 0"},
		"no delays":                 {pods{served(idle(unknown(threads)), ms, 0)}, unsure, "Unread", "client pod 0"},
		"unread but late":           {pods{served(idle(unknown(throttling)), ms, ms)}, bound, "Late Unread", "Put"},
		"nothing of a process":      {pods{served(nil, ms, 0)}, unsure, "Unread", "did not report them"},
		"a pod is missing":          {pods{served(idle(), ms, 0), nil}, unsure, "Unread", "client pod 1"},
		"no collection":             {pods{served(idle(unknown(collection)), ms, 0)}, valid, "", ""},
		"lateness without bucket":   {pods{lost}, unsure, "Unread", "how late Put requests were sent"},
		"no request":                {pods{mute}, unsure, "Unread", "No request succeeded"},
		"no request that succeeded": {pods{failed}, unsure, "Unread", "No request succeeded"},
		"no percentile":             {pods{withoutBuckets(t, "etcdbench_request_service_duration_seconds", served(idle(), ms, 0))}, unsure, "Unread", "No percentile of the service time"},
		"no pods":                   {nil, unsure, "Unread", "The run has no client pod"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Clients(runtest.Puts(), results.Summarize(tc.pods))
			var causes []string
			for _, r := range got.Reasons {
				causes = append(causes, string(r.Cause))
			}
			if got.Verdict != tc.want || strings.Join(causes, " ") != tc.causes {
				t.Fatalf("got %s for %v, wanted %s for %s: %+v", got.Verdict, causes, tc.want, tc.causes, got.Reasons)
			}
			if len(got.Reasons) > 0 && (!strings.Contains(got.Reasons[0].Message, tc.part) || got.Reasons[0].Change == "") {
				t.Errorf("the reason %+v lacks %q, or what to change", got.Reasons[0], tc.part)
			}
		})
	}
}

// fast is a pod whose clients run on event loops.
func fast(s *results.Snapshot) *results.Snapshot {
	s.Transport = spec.TransportFast
	return s
}

func at(index int, s *results.Snapshot) *results.Snapshot {
	s.Index = index
	return s
}

// withoutBuckets is a pod whose buckets of this family were lost in transit.
func withoutBuckets(t *testing.T, family string, s *results.Snapshot) *results.Snapshot {
	t.Helper()
	all := wire.Families(s)
	for _, f := range all {
		for _, m := range f.Metric {
			if h := m.Histogram; f.GetName() == family {
				h.Schema, h.ZeroCount, h.PositiveSpan, h.PositiveDelta = nil, nil, nil, nil
			}
		}
	}
	got, err := wire.Decode(all)
	if err != nil {
		t.Fatal(err)
	}
	if put := got.Operations[spec.OperationPut]; put.Lateness.HasBuckets() && put.Service.HasBuckets() {
		t.Fatalf("%s has buckets", family)
	}
	return got
}

// Each number is from the worst pod; it is absent if it is unknown for some pod.
func TestValidityHasTheNumbersOfTheWorstPod(t *testing.T) {
	calm := served(idle(), time.Millisecond, 0)
	hot := served(idle(with(results.ProcessCPUSeconds, 12), unknown(results.ProcessThreadDelaySeconds)), time.Millisecond, 0)
	got := Clients(runtest.Puts(), results.Summarize([]*results.Snapshot{calm, hot, calm}))
	if got.CPUPercent == nil || *got.CPUPercent != 60 || got.GoroutineDelayP99Microseconds == nil || *got.GoroutineDelayP99Microseconds != 100 {
		t.Errorf("got %+v, wanted a share of 60 %% and a delay of 100 µs", got)
	}
	if got.DelayPerRequestMicroseconds != nil {
		t.Errorf("got a delay per request of %d µs that one pod does not know", *got.DelayPerRequestMicroseconds)
	}
}

// crowded is a pod whose result does not fit into a termination message.
func crowded(w *results.ProcessWindow) *results.Snapshot {
	windows := make([]*results.MemberWindow, 3)
	r := rand.New(rand.NewPCG(9, 9))
	for i := range windows {
		windows[i] = runtest.Flushed(float64(r.IntN(50_000)))
	}
	s := runtest.Measured(0, 0, runtest.Told(windows...))
	s.Process = w
	for _, operation := range []spec.Operation{spec.OperationPut, spec.OperationRange} {
		op := &results.OperationResult{Errors: map[string]uint64{}, CompletedInWindow: 300_000}
		for range 300_000 {
			service, lateness := int64(20e6*math.Exp(0.4*r.NormFloat64())), int64(1e5*r.ExpFloat64())
			op.Service.Record(service)
			op.Lateness.Record(lateness)
			op.Latency.Record(service + lateness)
		}
		s.Operations[operation] = op
	}
	return s
}

// The figures for judging the client also arrive in a termination message.
func TestValidityFromATerminationMessage(t *testing.T) {
	s := crowded(idle(with(results.ProcessThrottledSeconds, 1)))
	got, err := wire.DecodeTerminationMessage(wire.TerminationMessage(s))
	if err != nil || len(got.Omitted) == 0 {
		t.Fatalf("nothing had to be left out of the message (%v): the test shows nothing", err)
	}
	if !maps.Equal(s.Process.Figures, got.Process.Figures) {
		t.Errorf("got the figures %v, wanted %v", got.Process.Figures, s.Process.Figures)
	}
	if v := Clients(runtest.Puts(), results.Summarize([]*results.Snapshot{got})); v.Verdict != v1alpha1.ValidityClientBound {
		t.Errorf("got %+v, wanted %s", v, v1alpha1.ValidityClientBound)
	}
}

func TestSharedNode(t *testing.T) {
	for name, tc := range map[string]struct {
		members []string
		pods    []string
		want    v1alpha1.SharedWithMembers
	}{
		"apart":             {[]string{"a", "b"}, []string{"c", "d"}, ""},
		"one of them":       {[]string{"a", "b"}, []string{"c", "b"}, v1alpha1.SharedNode},
		"members not known": {nil, []string{"a"}, ""},
		"pods not known":    {[]string{""}, []string{""}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := runtest.Puts()
			b.Status.Target = &v1alpha1.TargetStatus{Nodes: tc.members}
			for _, node := range tc.pods {
				b.Status.Pods = append(b.Status.Pods, v1alpha1.PodStatus{Node: node})
			}
			if got := Clients(b, results.Summarize([]*results.Snapshot{runtest.Measured(0, 1)})).Shared; got != tc.want {
				t.Errorf("wanted %q, got %q", tc.want, got)
			}
		})
	}
}
