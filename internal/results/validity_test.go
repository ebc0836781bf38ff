package results

import (
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// idle is what a pod that was no limit had of its machine in ten seconds.
func idle(change ...func(map[ProcessFigure]float64)) *ProcessWindow {
	w := &ProcessWindow{Figures: map[ProcessFigure]float64{
		ProcessWindowSeconds: 10, ProcessCPUSeconds: 4, ProcessProcessors: 2, ProcessThrottledSeconds: 0,
		ProcessGoroutineDelaySeconds: 100e-6, ProcessThreadDelaySeconds: 20e-6, ProcessCollectionRatio: 0.02,
	}}
	for _, c := range change {
		c(w.Figures)
	}
	return w
}

func with(f ProcessFigure, v float64) func(map[ProcessFigure]float64) {
	return func(figures map[ProcessFigure]float64) { figures[f] = v }
}

func unknown(f ProcessFigure) func(map[ProcessFigure]float64) {
	return func(figures map[ProcessFigure]float64) { delete(figures, f) }
}

// served is a pod whose requests took a time and were late by another.
func served(w *ProcessWindow, latency, lateness time.Duration) *Snapshot {
	s := pod(0, 10*time.Second, 0)
	s.Process = w
	put := s.Operations[OperationPut]
	for range 100 {
		put.Latency.Record(int64(latency))
		if lateness > 0 {
			put.Lateness.Record(int64(lateness))
		}
	}
	put.CompletedInWindow = 100
	return s
}

// What is late is what makes a verdict, of each operation by its own latency.
func TestLateRequests(t *testing.T) {
	const ms, us = time.Millisecond, time.Microsecond
	// late has 200 requests: half are late by 100 µs, half by this much.
	late := func(latency, lateness time.Duration) *Snapshot {
		return Merge([]*Snapshot{served(idle(), latency, 100*us), at(1, served(idle(), latency, lateness))})
	}
	both, lost := late(ms, 300*us), late(ms, 300*us)
	both.Operations[OperationRange] = late(9*ms, ms).Operations[OperationPut]
	lost.Operations[OperationRange] = late(9*ms, ms).Operations[OperationPut]
	lost.Operations[OperationRange].Lateness.dropBuckets()
	unanswered := late(0, 300*us)
	unanswered.Operations[OperationPut].Latency = Histogram{}
	tests := map[string]struct {
		pod  *Snapshot
		want any
	}{
		"a closed loop":         {served(idle(), ms, 0), nil},
		"in time":               {late(ms, 200*us), uint64(0)},
		"late":                  {late(ms, 300*us), uint64(100)},
		"the latency bears it":  {late(4*ms, 300*us), uint64(0)},
		"more than it can bear": {late(4*ms, 500*us), uint64(100)},
		"two operations":        {both, uint64(200)},
		"not known of one":      {lost, nil},
		"none was answered":     {unanswered, uint64(100)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got any
			if s := Summarize([]*Snapshot{tc.pod}); s.Late != nil {
				got = *s.Late
			}
			if got != tc.want {
				t.Errorf("%v requests were late, wanted %v", got, tc.want)
			}
		})
	}
}

func TestValidity(t *testing.T) {
	const ms, us = time.Millisecond, time.Microsecond
	lost := served(idle(), ms, 100*us)
	lost.Operations[OperationPut].Lateness.dropBuckets()
	mute := served(idle(), ms, 0)
	watched := served(idle(with(ProcessGoroutineDelaySeconds, 300e-6)), 4*ms, 0)
	watched.Operations[OperationWatchDelivery] = served(idle(), us, 0).Operations[OperationPut]
	mute.Operations = map[Operation]*OperationResult{}
	tests := map[string]struct {
		pods []*Snapshot
		want Verdict
		// causes of the verdict, in order.
		causes string
		// says is in the first reason.
		says string
	}{
		"nothing shows":           {[]*Snapshot{served(idle(), ms, 0)}, VerdictValid, "", ""},
		"throttled a little":      {[]*Snapshot{served(idle(with(ProcessThrottledSeconds, 0.1)), ms, 0)}, VerdictValid, "", ""},
		"throttled":               {[]*Snapshot{served(idle(with(ProcessThrottledSeconds, 0.22), with(ProcessQuotaProcessors, 1.5)), ms, 0)}, VerdictClientBound, "Throttled", "1.1 % of the window"},
		"each of many a little":   {[]*Snapshot{served(idle(with(ProcessThrottledSeconds, 0.7), with(ProcessProcessors, 8), with(ProcessQuotaProcessors, 8)), ms, 0)}, VerdictValid, "", ""},
		"each of many":            {[]*Snapshot{served(idle(with(ProcessThrottledSeconds, 25), with(ProcessProcessors, 8), with(ProcessQuotaProcessors, 8)), ms, 0)}, VerdictClientBound, "Throttled", "31.2 % of the window"},
		"no processor runs":       {[]*Snapshot{served(idle(with(ProcessThrottledSeconds, 25), with(ProcessCPUSeconds, 0.5), with(ProcessQuotaProcessors, 0.1)), ms, 0)}, VerdictClientBound, "Throttled", "100.0 % of the window"},
		"most of the quota":       {[]*Snapshot{served(idle(with(ProcessCPUSeconds, 8.6), with(ProcessQuotaProcessors, 1)), ms, 0)}, VerdictClientBound, "Busy", "86 % of the 1 processors"},
		"half of the quota":       {[]*Snapshot{served(idle(with(ProcessCPUSeconds, 5), with(ProcessQuotaProcessors, 1)), ms, 0)}, VerdictValid, "", ""},
		"a quota of no use":       {[]*Snapshot{served(idle(with(ProcessCPUSeconds, 18), with(ProcessQuotaProcessors, 64)), ms, 0)}, VerdictClientBound, "Busy", "90 % of the 2 processors"},
		"most of the machine":     {[]*Snapshot{served(idle(with(ProcessCPUSeconds, 17.2)), ms, 0)}, VerdictClientBound, "Busy", "86 %"},
		"goroutines wait":         {[]*Snapshot{served(idle(with(ProcessGoroutineDelaySeconds, 300e-6)), ms, 0)}, VerdictClientBound, "Delayed", "300µs (p99) for a thread"},
		"latency bears the wait":  {[]*Snapshot{served(idle(with(ProcessGoroutineDelaySeconds, 300e-6)), 4*ms, 0)}, VerdictValid, "", ""},
		"no event bears a wait":   {[]*Snapshot{watched}, VerdictValid, "", ""},
		"threads wait":            {[]*Snapshot{served(idle(with(ProcessThreadDelaySeconds, 300e-6)), ms, 0)}, VerdictClientBound, "Delayed", "300µs for a processor"},
		"late":                    {[]*Snapshot{served(idle(), ms, 300*us)}, VerdictClientBound, "Late", "Put requests were sent up to 300µs"},
		"latency bears lateness":  {[]*Snapshot{served(idle(), 4*ms, 300*us)}, VerdictValid, "", ""},
		"one pod of two":          {[]*Snapshot{served(idle(), ms, 0), at(1, served(idle(with(ProcessThrottledSeconds, 5)), ms, 0))}, VerdictClientBound, "Throttled", "Pod 1"},
		"all at once":             {[]*Snapshot{served(idle(with(ProcessThrottledSeconds, 5), with(ProcessCPUSeconds, 18), with(ProcessThreadDelaySeconds, 1)), ms, ms)}, VerdictClientBound, "Throttled Busy Delayed Late", "25.0 %"},
		"no control group":        {[]*Snapshot{served(idle(unknown(ProcessThrottledSeconds)), ms, 0)}, VerdictUnknown, "Unread", "pod 0"},
		"no delays":               {[]*Snapshot{served(idle(unknown(ProcessThreadDelaySeconds)), ms, 0)}, VerdictUnknown, "Unread", "pod 0"},
		"unread but late":         {[]*Snapshot{served(idle(unknown(ProcessThrottledSeconds)), ms, ms)}, VerdictClientBound, "Late Unread", "Put"},
		"nothing of a process":    {[]*Snapshot{served(nil, ms, 0)}, VerdictUnknown, "Unread", "has not reported it"},
		"a pod is missing":        {[]*Snapshot{served(idle(), ms, 0), nil}, VerdictUnknown, "Unread", "pod 1"},
		"no collection":           {[]*Snapshot{served(idle(unknown(ProcessCollectionRatio)), ms, 0)}, VerdictValid, "", ""},
		"lateness without bucket": {[]*Snapshot{lost}, VerdictUnknown, "Unread", "lateness of Put"},
		"no request":              {[]*Snapshot{mute}, VerdictUnknown, "Unread", "percentile of latency"},
		"no pods":                 {nil, VerdictUnknown, "Unread", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Summarize(tc.pods).Validity
			var causes []string
			for _, r := range got.Reasons {
				causes = append(causes, string(r.Cause))
			}
			if got.Verdict != tc.want || strings.Join(causes, " ") != tc.causes {
				t.Fatalf("got %s for %v, wanted %s for %s: %+v", got.Verdict, causes, tc.want, tc.causes, got.Reasons)
			}
			if len(got.Reasons) > 0 && (!strings.Contains(got.Reasons[0].Message, tc.says) || got.Reasons[0].Change == "") {
				t.Errorf("the reason %+v lacks %q, or what to change", got.Reasons[0], tc.says)
			}
		})
	}
}

func at(index int, s *Snapshot) *Snapshot {
	s.Index = index
	return s
}

// The numbers are those of the worst pod, and of none if one is not known.
func TestValidityHasTheNumbersOfTheWorstPod(t *testing.T) {
	calm := served(idle(), time.Millisecond, 0)
	hot := served(idle(with(ProcessCPUSeconds, 12), unknown(ProcessThreadDelaySeconds)), time.Millisecond, 0)
	got := Summarize([]*Snapshot{calm, hot, calm}).Validity
	if got.CPUShare == nil || *got.CPUShare != 0.6 || got.GoroutineDelay == nil || *got.GoroutineDelay != 100*time.Microsecond {
		t.Errorf("got %+v, wanted a share of 0.6 and a delay of 100 µs", got)
	}
	if got.ThreadDelay != nil {
		t.Errorf("got a thread delay of %v that one pod does not know", *got.ThreadDelay)
	}
}

// What judges the client arrives by a termination message as well.
func TestValidityTakesBothRoads(t *testing.T) {
	s := finalSnapshot(0, 300_000, OperationPut, OperationRange)
	s.Target = withFigures(rand.New(rand.NewPCG(9, 9)), randomTarget(rand.New(rand.NewPCG(9, 9)), 3))
	s.Process = idle(with(ProcessThrottledSeconds, 1))
	got := terminated(t, s)
	if !maps.Equal(s.Process.Figures, got.Process.Figures) {
		t.Errorf("got the figures %v, wanted %v", got.Process.Figures, s.Process.Figures)
	}
	if v := Summarize([]*Snapshot{got}).Validity; v.Verdict != VerdictClientBound {
		t.Errorf("got %+v, wanted %s", v, VerdictClientBound)
	}
}
