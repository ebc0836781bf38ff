package benchmark

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// validity states what a result says of its clients.
func validity(b *v1alpha1.EtcdBenchmark, v results.Validity) *v1alpha1.Validity {
	out := &v1alpha1.Validity{
		Shared:                        shared(b),
		Verdict:                       v1alpha1.ValidityVerdict(v.Verdict),
		CPUPercent:                    percentOf(v.CPUShare),
		GarbageCollectionPercent:      percentOf(v.CollectionShare),
		ThrottledMicroseconds:         microsOf(v.Throttled),
		GoroutineDelayP99Microseconds: microsOf(v.GoroutineDelay),
		ThreadDelayMeanMicroseconds:   microsOf(v.ThreadDelay),
	}
	for _, r := range v.Reasons {
		out.Reasons = append(out.Reasons, v1alpha1.ValidityReason{
			Cause: v1alpha1.ValidityCause(r.Cause), Message: results.Shorten(r.Message, maxMessage), Change: advice(b, r),
		})
	}
	return out
}

// shared says whether a client pod of b ran where a member is.
func shared(b *v1alpha1.EtcdBenchmark) v1alpha1.SharedWithMembers {
	for _, p := range b.Status.Pods {
		if t := b.Status.Target; p.Node != "" && t != nil && slices.Contains(t.Nodes, p.Node) {
			return v1alpha1.SharedNode
		}
	}
	return ""
}

func percentOf(share *float64) *int32 {
	if share == nil {
		return nil
	}
	return new(int32(math.Round(100 * min(*share, maxShare))))
}

// maxShare bounds what a pod may claim to have used of its processors.
const maxShare = 1 << 20

func microsOf(d *time.Duration) *int64 {
	if d == nil {
		return nil
	}
	return new(toMicros(*d))
}

// doubtClients keeps a run from passing whose clients were a limit: what they
// could not ask for, the target was not asked for. A missed objective stays
// missed, but its message says who may have missed it.
func doubtClients(c *metav1.Condition, s *results.Summary) *metav1.Condition {
	if s == nil || s.Validity.Verdict != results.VerdictClientBound {
		return c
	}
	why := "The client was itself a limit (" + causes(s.Validity) + "); see status.summary.validity."
	if c.Status == metav1.ConditionTrue {
		c.Status, c.Reason = metav1.ConditionUnknown, v1alpha1.ReasonClientBound
		why += " What it measured meets the objectives."
	} else {
		why = c.Message + " " + why
	}
	c.Message = why
	return c
}

func causes(v results.Validity) string {
	var all []string
	for _, r := range v.Reasons {
		if r.Cause != results.CauseUnread {
			all = append(all, string(r.Cause))
		}
	}
	return strings.Join(all, ", ")
}

// clientText says in a line whether the client shows in the numbers.
func clientText(v *v1alpha1.Validity) string {
	var facts []string
	fact := func(known bool, format string, args ...any) {
		if known {
			facts = append(facts, fmt.Sprintf(format, args...))
		}
	}
	fact(v.CPUPercent != nil, "%d %% of its processors used", deref(v.CPUPercent))
	fact(v.GarbageCollectionPercent != nil, "%d %% of that for garbage collection", deref(v.GarbageCollectionPercent))
	fact(v.GoroutineDelayP99Microseconds != nil, "work waited %s for a thread (p99)", Micros(deref(v.GoroutineDelayP99Microseconds)))
	fact(v.Shared == v1alpha1.SharedNode, "on a node of a member")
	fact(v.Shared == v1alpha1.SharedProcess, "in the members' process")
	text := map[v1alpha1.ValidityVerdict]string{
		v1alpha1.ValidityValid:       "not the limit",
		v1alpha1.ValidityClientBound: "WAS ITSELF A LIMIT, see below",
		v1alpha1.ValidityUnknown:     "not known whether it was the limit, see below",
	}[v.Verdict]
	if len(facts) > 0 {
		text += ": " + strings.Join(facts, ", ")
	}
	return text
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// clients prints why the client shows in the numbers, and what to change.
func (t *table) clients() {
	v := t.b.Status.Summary.Validity
	if v == nil || len(v.Reasons) == 0 {
		return
	}
	t.line("")
	if v.Verdict == v1alpha1.ValidityClientBound {
		t.line("WHY THE CLIENT WAS A LIMIT")
	} else {
		t.line("WHY THE CLIENT COULD NOT BE JUDGED")
	}
	for _, r := range v.Reasons {
		t.sentence("  "+string(r.Cause)+": ", r.Message)
		t.sentence("  "+strings.Repeat(" ", len(r.Cause))+"  ", r.Change)
	}
}
