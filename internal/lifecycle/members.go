package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Members are the members of spec.target.ephemeral, in their pods. The deletion of their Job ends when pods and volume
// claims are gone.
type Members struct {
	Job Job
	// Gone: the run has finished, and the API server has confirmed that no Job of its members is left.
	Gone bool
	// Pods has one entry per index, including missing pods.
	Pods []Pod
	// NodesShared: pods of another run are on a node of a member.
	NodesShared bool
	// Volumes would outlive their claims: why, in the words of a message; empty if not. ClassUnread: that is not known.
	Volumes     string
	ClassUnread bool
}

// membersGoneBy is how long the deletion of members may take before the run says that they are left. Others go on then.
const membersGoneBy = 5 * time.Minute

// startsOften is how often a member may end before all are ready: names of other members may not resolve at first.
const startsOften = 3

func (o Observed) members() *v1alpha1.EphemeralTarget { return o.spec().Target.Ephemeral }

// membersReady reports whether the run's own members have been ready, or it has none.
func membersReady(run *v1alpha1.EtcdBenchmark) bool {
	return run.Spec.Target.Ephemeral == nil || run.Status.Ephemeral != nil && run.Status.Ephemeral.ReadyAt != nil
}

// decideMembers starts the members of the run, and waits until all are ready.
func decideMembers(o Observed, now time.Time) *Decision {
	if membersReady(o.Run) || o.status().Job != nil {
		return nil
	}
	ready := func(p Pod) bool { return p.State == PodRunning && p.Ready }
	all, known := o.Members.Pods, o.status().Ephemeral
	d := &Decision{Stage: v1alpha1.StageStarting, Message: fmt.Sprintf("Starting the members of the run: %d.", len(all))}
	first := slices.IndexFunc(all, func(p Pod) bool { return !ready(p) })
	switch {
	case known == nil:
		d.do(AddFinalizer, CreateMembers)
		d.wake(now.Add(heartbeat), now)
	case first < 0:
		d.Members = known.DeepCopy()
		d.Members.ReadyAt = new(microTime(now))
		for _, p := range all {
			d.Members.Pods = append(d.Members.Pods, v1alpha1.MemberPod{Name: p.Name, Node: p.Node, ImageID: text.Shorten(p.ImageID, v1alpha1.MaxMessageLength), Restarts: int32(p.Restarts)})
		}
		d.Message, d.Requeue = "All members of the run are ready.", time.Millisecond
	default:
		n := len(all) - len(slices.DeleteFunc(slices.Clone(all), ready))
		d.Message = fmt.Sprintf("%d of %d members of the run are ready; %s.", n, len(all), memberState(all[first]))
		d.wake(nextCheck(o, now), now)
	}
	return d
}

// memberState says what a member that is not ready does.
func memberState(p Pod) string {
	name := fmt.Sprintf("member %d", p.Index)
	if p.Name != "" {
		name += " (" + p.Name + ")"
	}
	switch {
	case p.Stuck != nil && p.Warned != "" && !strings.Contains(p.Stuck.Message, p.Warned):
		return name + " cannot start: " + p.Stuck.Message + " " + p.Warned
	case p.Stuck != nil:
		return name + " cannot start: " + p.Stuck.Message
	case p.State == PodMissing || p.State == PodGone:
		return name + " does not exist"
	case p.Words != "":
		return name + " " + p.Words
	case p.State == PodEnded:
		return name + " " + p.Exit
	case p.State == PodRunning:
		return name + " runs and is not ready yet"
	case p.Warned != "":
		return name + " waits: " + p.Warned
	}
	return name + " waits for its container to start"
}

// checkMembers ends a run whose members do not become ready, or are gone. A member that is lost later does not end it, as
// with any other target.
func checkMembers(o Observed, now time.Time) *Problem {
	known := o.status().Ephemeral
	switch {
	case o.spec().Target.Disk != nil && o.status().Job == nil && o.Members.Volumes != "":
		return &Problem{v1alpha1.ReasonTargetUnhealthy, o.Members.Volumes}
	case o.members() == nil || o.everyPod(Pod.HasWholeResult):
		return nil
	case known == nil && o.Members.Volumes != "":
		return &Problem{v1alpha1.ReasonMembersNotReady, o.Members.Volumes}
	case known == nil:
		return nil
	case !o.Members.Job.Exists:
		return &Problem{v1alpha1.ReasonJobDeleted, fmt.Sprintf("The Job %s of the run's members was deleted during the run.", known.Job.Name)}
	case known.ReadyAt != nil:
		return checkMembersData(o)
	case o.Members.Job.Refused != "" && !now.Before(o.Members.Job.RefusalSeen.Add(refusalGrace)):
		return &Problem{v1alpha1.ReasonPodsForbidden, "A quota, a limit range or an admission policy refuses the run's members: " + o.Members.Job.Refused}
	}
	for _, p := range o.Members.Pods {
		switch {
		case p.Stuck != nil && !p.isUnschedulable() && !now.Before(p.StuckSeen.Add(imageGrace)):
			return &Problem{p.Stuck.Reason, "The run's members do not start: " + memberState(p)}
		case p.Restarts >= startsOften:
			return &Problem{v1alpha1.ReasonMembersNotReady, fmt.Sprintf("The run's members do not start: %s (%d times).", memberState(p), p.Restarts)}
		}
	}
	return checkMembersTime(o, now)
}

// checkMembersData ends a run whose members have lost their data: if too few of the pods are left that were ready, what
// replaces them can become a new and empty cluster at the same addresses.
func checkMembersData(o Observed) *Problem {
	known, left := o.status().Ephemeral.Pods, 0
	for i, p := range known {
		if i < len(o.Members.Pods) && o.Members.Pods[i].Name == p.Name {
			left++
		}
	}
	if left > len(known)/2 || len(known) == 0 {
		return nil
	}
	return &Problem{v1alpha1.ReasonTargetLost, fmt.Sprintf("Of the run's %d members, the pods of %d were deleted during the run, and their data with them.", len(known), len(known)-left)}
}

func checkMembersTime(o Observed, now time.Time) *Problem {
	if now.Before(membersReadyBy(o)) {
		return nil
	}
	reason, late := v1alpha1.ReasonMembersNotReady, Pod{}
	for _, p := range o.Members.Pods {
		if p.isUnschedulable() {
			reason, late = v1alpha1.ReasonUnschedulable, p
			break
		}
		if !p.Ready && late.Name == "" {
			late = p
		}
	}
	return &Problem{reason, fmt.Sprintf("The run's members were not ready within spec.target.ephemeral.startTimeoutSeconds (%d): %s.",
		o.members().StartTimeoutSeconds, memberState(late))}
}

// membersReadyBy is the deadline for the members to start.
func membersReadyBy(o Observed) time.Time {
	return o.Members.Job.Seen.Add(seconds(o.members().StartTimeoutSeconds))
}

// keepMembers copies what is known about the members into status, and which of them are lost.
func keepMembers(run *v1alpha1.EtcdBenchmark, o Observed, d Decision) {
	s := &run.Status
	if d.Members != nil {
		s.Ephemeral = d.Members
		if s.Target != nil {
			s.Target.Nodes = nil
			for _, p := range d.Members.Pods {
				s.Target.Nodes = append(s.Target.Nodes, p.Node)
			}
			slices.Sort(s.Target.Nodes)
			s.Target.Nodes = slices.Compact(slices.DeleteFunc(s.Target.Nodes, func(n string) bool { return n == "" }))
		}
		return
	}
	if s.Ephemeral == nil || s.Ephemeral.ReadyAt == nil || run.HasFinished() || o.everyPod(Pod.HasWholeResult) {
		return
	}
	s.Ephemeral.NodesShared = s.Ephemeral.NodesShared || o.Members.NodesShared && s.StartAt != nil
	for i := range s.Ephemeral.Pods {
		known := &s.Ephemeral.Pods[i]
		if known.Lost == "" && i < len(o.Members.Pods) {
			known.Lost = text.Shorten(lossOf(*known, o.Members.Pods[i]), v1alpha1.MaxMessageLength)
		}
	}
}

// lossOf says how a member was lost since all were ready; empty if it was not.
func lossOf(known v1alpha1.MemberPod, now Pod) string {
	switch {
	case now.Name != known.Name:
		return "was deleted; a pod that replaces it has none of its data"
	case now.State == PodEnded:
		return now.Exit
	case now.Restarts > int(known.Restarts):
		return cmp.Or(now.Words, "ended, and was started again")
	}
	return ""
}

// membersLeft is the condition Cleaned of a run with members of its own: its keys are gone with them.
func membersLeft(o Observed) Cleaned {
	switch {
	case isAdmitted(o.Run) && !o.Members.Gone:
		return Cleaned{metav1.ConditionUnknown, v1alpha1.ReasonMembersLeft, "The members of the run, with its keys, are still there."}
	case o.status().Ephemeral == nil:
		return Cleaned{metav1.ConditionTrue, v1alpha1.ReasonNothingWritten, "The run started no members and wrote nothing."}
	}
	return Cleaned{metav1.ConditionTrue, v1alpha1.ReasonMembersDeleted, "The members of the run are deleted, and its keys with them."}
}

// deleteMembers deletes the members after the end, and after spec.target.ephemeral.keepSeconds.
func deleteMembers(o Observed, d *Decision, now time.Time) {
	keep := o.Seen.End.Add(seconds(o.members().KeepSeconds))
	switch {
	case o.Members.Job.Exists && now.Before(keep) && !o.deleting():
		d.Cleaned = &Cleaned{metav1.ConditionUnknown, v1alpha1.ReasonMembersLeft,
			fmt.Sprintf("The members of the run stay for spec.target.ephemeral.keepSeconds (%d). Delete the run to delete them now.", o.members().KeepSeconds)}
		d.wake(keep, now)
	case !now.Before(keep.Add(membersGoneBy)):
		d.Cleaned = &Cleaned{metav1.ConditionFalse, v1alpha1.ReasonMembersLeft,
			fmt.Sprintf("The members of the run are still there, %s after their deletion began. Look at the pods and volume claims of the Job %s: a node or a volume may not answer.", text.Duration(membersGoneBy), o.Run.MembersName())}
	}
	if o.Members.Job.Exists && (o.deleting() || !now.Before(keep)) {
		d.do(DeleteMembers)
	}
	d.wake(now.Add(heartbeat), now)
}
