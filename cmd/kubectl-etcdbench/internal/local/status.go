package local

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
	"github.com/etcdbench/etcd-benchmark-operator/internal/verdict"
)

// begin sets the first status of the run.
func (c *controller) begin(now time.Time) {
	c.write(lifecycle.Observed{}, lifecycle.Decision{
		Stage: v1alpha1.StagePreparing, Message: "Starting the load. Without a cluster, each client pod is a part of this process.",
		Endpoints: c.plan.Target.Endpoints,
	}, now)
}

// finish writes the result. All sessions have ended, so their snapshots are final.
func (c *controller) finish(now time.Time) {
	o := c.observation()
	d := lifecycle.Decide(o, now)
	if d.Finish == nil {
		d.Finish, d.Cleaned = &lifecycle.Problem{Reason: v1alpha1.ReasonPodFailed, Message: d.Message}, &lifecycle.Cleaned{Reason: v1alpha1.ReasonKeysLeft}
	}
	d.Finish.Message = c.localMessage(d.Finish.Message)
	d.Cleaned = c.cleaned(*d.Cleaned)
	c.write(o, d, now)
	c.options.Show(c.run.DeepCopy())
}

// write sets the status as the operator does, and then what only this process knows.
func (c *controller) write(o lifecycle.Observed, d lifecycle.Decision, now time.Time) {
	s, shared := &c.run.Status, allLoopback(c.plan.Target.Endpoints)
	o.SharesNode = shared
	c.keepLost()
	// followLock sets it.
	d.Queue = s.Queue
	c.sum = lifecycle.SetStatus(c.run, o, d, &c.recent, now)
	if s.Summary == nil {
		return
	}
	for _, w := range c.options.warnings(c.run, shared) {
		s.Summary.Warnings = verdict.AppendWarning(s.Summary.Warnings, w)
	}
	if shared {
		s.Summary.Validity.Shared = v1alpha1.SharedNode
	}
	c.addLogs()
	advise(c.run)
}

// cleaned returns the condition Cleaned. Without a cluster no cleanup Job follows, so the user has to delete keys that
// are left, unless they are those of others.
func (c *controller) cleaned(k lifecycle.Cleaned) *lifecycle.Cleaned {
	switch {
	case c.own != nil:
		k = lifecycle.Cleaned{Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonMembersDeleted, Message: "The members of the run are deleted, and its keys with them."}
	case k.Status == metav1.ConditionTrue:
	default:
		why, spared := c.whyLeft()
		k.Status, k.Message = metav1.ConditionFalse, "Keys may be left in the target"+why+"."
		if !spared {
			k.Message += " " + benchmark.Leftover(c.run).String()
		}
	}
	k.Message = c.localMessage(k.Message)
	return &k
}

// whyLeft continues a sentence with why keys may be left. spared: those of others are.
func (c *controller) whyLeft() (why string, spared bool) {
	var all []string
	for _, s := range c.sessions {
		f := load.FailureOf(s.WhyLeft())
		if f == nil {
			continue
		}
		spared = spared || f.Reason == results.FailurePrefixNotEmpty
		if !slices.Contains(all, f.Message) {
			all = append(all, f.Message)
		}
	}
	if len(all) == 0 {
		return "", spared
	}
	return ": " + strings.Join(all, "; "), spared
}
