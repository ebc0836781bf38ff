package benchmark

import (
	"math"
	"slices"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// memberSummaries are the members' figures for the window. They are empty before its end.
func memberSummaries(t *results.Target) []v1alpha1.MemberSummary {
	if t == nil {
		return nil
	}
	var out []v1alpha1.MemberSummary
	for _, m := range t.Members {
		if m.Window != nil {
			out = append(out, memberSummary(m))
		}
	}
	return out
}

// WithMembers changes the summaries of members by their addresses. Members without figures of their own are added. change
// returns nil if there is nothing to change.
func WithMembers(all []v1alpha1.MemberSummary, target *v1alpha1.TargetStatus, change func(endpoint string) func(*v1alpha1.MemberSummary)) []v1alpha1.MemberSummary {
	if target == nil {
		return all
	}
	for _, m := range target.Members {
		to := change(m.Endpoint)
		if to == nil || m.Endpoint == "" {
			continue
		}
		i := slices.IndexFunc(all, func(s v1alpha1.MemberSummary) bool { return s.ID == m.ID })
		if i < 0 {
			i, all = len(all), append(all, v1alpha1.MemberSummary{ID: m.ID, Name: m.Name})
		}
		to(&all[i])
	}
	return all
}

func memberSummary(m results.Member) v1alpha1.MemberSummary {
	w := m.Window
	sampled, _ := w.Value(results.FigureSampledSeconds)
	highest, sampledOutside := w.Value(results.FigureCPUHighest)
	figure := func(f results.Figure) *int64 { return wholeFigure(w.Value(f)) }
	return v1alpha1.MemberSummary{
		ID: m.ID, Name: m.Name, Unknown: text.Shorten(w.Unknown, v1alpha1.MaxMessageLength),
		SampledMicroseconds:  text.Integer(math.Round(sampled * 1e6)),
		WALFsync:             memberDuration(w.Timing(results.TimerWALFsync)),
		BackendCommit:        memberDuration(w.Timing(results.TimerBackendCommit)),
		PeerRoundTrip:        memberDuration(w.Timing(results.TimerPeerRoundTrip)),
		Apply:                memberDuration(w.Timing(results.TimerApply)),
		Ping:                 memberPing(w),
		LeaderChanges:        figure(results.FigureLeaderChanges),
		SlowApplies:          figure(results.FigureSlowApplies),
		SlowReadIndexes:      figure(results.FigureSlowReadIndexes),
		FailedProposals:      figure(results.FigureFailedProposals),
		PendingProposals:     figure(results.FigurePendingProposals),
		CPUMillicores:        wholeFigure(w.Millicores()),
		CPUHighestMillicores: wholeFigure(1000*highest, sampledOutside),
		Processors:           figure(results.FigureProcessors),
		MemoryBytes:          figure(results.FigureMemoryBytes),
		MemoryStartBytes:     figure(results.FigureMemoryStartBytes),
		DatabaseBytes:        figure(results.FigureDatabaseEndBytes),
		DatabaseGrowthBytes:  wholeFigure(w.DatabaseGrowth()),
		ClientReceivedBytes:  figure(results.FigureClientReceivedBytes),
		ClientSentBytes:      figure(results.FigureClientSentBytes),
		PeerReceivedBytes:    figure(results.FigurePeerReceivedBytes),
		PeerSentBytes:        figure(results.FigurePeerSentBytes),
		StorageReadBytes:     figure(results.FigureStorageReadBytes),
		StorageWrittenBytes:  figure(results.FigureStorageWrittenBytes),
		PodReceivedBytes:     figure(results.FigurePodReceivedBytes),
		PodSentBytes:         figure(results.FigurePodSentBytes),
	}
}

// wholeFigure returns nil for an unknown figure, or for one beyond the range of exact integers: a member can report any
// number.
func wholeFigure(v float64, known bool) *int64 {
	if !known || math.Abs(v) > text.MostExact {
		return nil
	}
	n := whole(v)
	return &n
}

func memberDuration(t results.Timing, known bool) *v1alpha1.MemberDuration {
	if !known {
		return nil
	}
	out := &v1alpha1.MemberDuration{Count: int64(t.Count), MeanNanoseconds: t.Mean.Nanoseconds()}
	if t.P99Above > 0 || t.P99AtMost > 0 {
		out.P99AboveMicroseconds = micros(t.P99Above)
	}
	if t.P99AtMost > 0 {
		out.P99AtMostMicroseconds = micros(t.P99AtMost)
	}
	for _, v := range t.Estimates {
		out.EstimatesMicroseconds = append(out.EstimatesMicroseconds, toMicros(v))
	}
	return out
}

func memberPing(w *results.MemberWindow) *v1alpha1.MemberPing {
	count := wholeFigure(w.Value(results.FigurePings))
	if count == nil || *count < 1 {
		return nil
	}
	median, _ := w.Value(results.FigurePingMedianSeconds)
	longest, _ := w.Value(results.FigurePingLongestSeconds)
	return &v1alpha1.MemberPing{Count: *count, P50Microseconds: toMicros(results.Seconds(median)), MaxMicroseconds: toMicros(results.Seconds(longest))}
}

func micros(d time.Duration) *int64 {
	us := toMicros(d)
	return &us
}
