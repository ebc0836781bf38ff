package lifecycle

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// waitingReasons maps the kubelet's reasons for a waiting container to reasons of the run. All other reasons are
// temporary.
var waitingReasons = map[string]string{
	"ErrImagePull":               v1alpha1.ReasonImageUnavailable,
	"ImagePullBackOff":           v1alpha1.ReasonImageUnavailable,
	"ErrImageNeverPull":          v1alpha1.ReasonImageUnavailable,
	"InvalidImageName":           v1alpha1.ReasonImageUnavailable,
	"ImageInspectError":          v1alpha1.ReasonImageUnavailable,
	"RegistryUnavailable":        v1alpha1.ReasonImageUnavailable,
	"SignatureValidationFailed":  v1alpha1.ReasonImageUnavailable,
	"CreateContainerConfigError": v1alpha1.ReasonPodFailed,
	"CreateContainerError":       v1alpha1.ReasonPodFailed,
	"RunContainerError":          v1alpha1.ReasonPodFailed,
}

// stateOf returns the pod's state, and whether its container may have started.
func stateOf(p *corev1.Pod) (state PodState, started bool) {
	c := containerOf(p).State
	started = mayHaveStarted(containerOf(p))
	switch {
	case c.Terminated != nil:
		return PodEnded, started
	case p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed:
		return PodEnded, started
	case c.Running != nil:
		return PodRunning, true
	}
	return PodWaiting, started
}

// reasonUnknown is the kubelet's reason for a container that it cannot find any more, for example after a restart of
// its node. It has an end time without a start time, and the container may have run.
const reasonUnknown = "ContainerStatusUnknown"

func mayHaveStarted(c corev1.ContainerStatus) bool {
	t := c.State.Terminated
	return c.State.Running != nil || c.LastTerminationState.Terminated != nil ||
		t != nil && (!t.StartedAt.IsZero() || t.Reason == reasonUnknown)
}

func hasExited(p *corev1.Pod) bool {
	t := containerOf(p).State.Terminated
	return t != nil && t.Reason != reasonUnknown
}

func exitOf(p *corev1.Pod) string {
	if t := containerOf(p).State.Terminated; t != nil {
		return fmt.Sprintf("ended with exit code %d (%s)", t.ExitCode, cmp.Or(t.Reason, "no reason given"))
	}
	return fmt.Sprintf("was ended by the cluster: %s", cmp.Or(p.Status.Message, p.Status.Reason, "no reason given"))
}

// exitWrongFlag is etcd's exit status for a wrong command line; a panic has it, too.
const exitWrongFlag = 2

// maxWords bounds what is kept of a log.
const maxWords = 400

// howEnded says how a container ended last, with the end of its log; empty if it has not.
func howEnded(c corev1.ContainerStatus) string {
	t := cmp.Or(c.State.Terminated, c.LastTerminationState.Terminated)
	if t == nil || c.Name != MemberContainerName {
		return ""
	}
	log := strings.TrimSpace(t.Message)
	if t.ExitCode == exitWrongFlag && !strings.Contains(log, "goroutine ") {
		// The end of the log is etcd's help.
		return "does not know a flag, or its value, in spec.target.ephemeral.settings"
	}
	return strings.TrimSuffix(fmt.Sprintf("ended with exit code %d (%s): %s", t.ExitCode, t.Reason, log[max(0, len(log)-maxWords):]), ": ")
}

// stuckOf returns what prevents the pod from starting; nil if nothing does.
func stuckOf(p *corev1.Pod) *Problem {
	if scheduled := conditionOf(p, corev1.PodScheduled); scheduled.Status == corev1.ConditionFalse {
		return &Problem{v1alpha1.ReasonUnschedulable, scheduled.Message}
	}
	w := containerOf(p).State.Waiting
	if w == nil || waitingReasons[w.Reason] == "" {
		return nil
	}
	return &Problem{waitingReasons[w.Reason], fmt.Sprintf("%s: %s", w.Reason, cmp.Or(w.Message, containerImage(p)))}
}

func containerImage(p *corev1.Pod) string {
	for _, c := range p.Spec.Containers {
		if c.Name == ContainerName || c.Name == MemberContainerName {
			return c.Image
		}
	}
	return ""
}

// isReady reports whether the pod is ready. Of a member, only its own container counts: the run does not need its sampler.
func isReady(p *corev1.Pod) bool {
	if c := containerOf(p); c.Name == MemberContainerName {
		return c.Ready
	}
	return conditionOf(p, corev1.PodReady).Status == corev1.ConditionTrue
}

// containerOf returns the zero value until the kubelet has written a status.
func containerOf(p *corev1.Pod) corev1.ContainerStatus {
	for _, c := range p.Status.ContainerStatuses {
		if c.Name == ContainerName || c.Name == MemberContainerName {
			return c
		}
	}
	return corev1.ContainerStatus{}
}

func conditionOf(p *corev1.Pod, t corev1.PodConditionType) corev1.PodCondition {
	for _, c := range p.Status.Conditions {
		if c.Type == t {
			return c
		}
	}
	return corev1.PodCondition{}
}
