package controllers

import (
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/controllers/internal/resources"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
)

// observeMembers reads the Job of the run's own members, and their pods. That the Job is gone must be confirmed: the members
// and their claims are deleted only then.
func (r *EtcdBenchmarkReconciler) observeMembers(ctx context.Context, o *lifecycle.Observed) error {
	if o.Run.Spec.Target.Disk != nil {
		return r.observeVolumes(ctx, o)
	}
	if o.Members.Gone = o.Run.HasFinished() && r.sightings.has(o.Run, membersGone); o.Run.Spec.Target.Ephemeral == nil || o.Members.Gone {
		return nil
	}
	job := &batchv1.Job{}
	key := client.ObjectKey{Namespace: o.Run.Namespace, Name: o.Run.MembersName()}
	err := r.Client.Get(ctx, key, job)
	known := o.Run.Status.Ephemeral
	if apierrors.IsNotFound(err) && (known != nil || o.Run.HasFinished()) {
		err = r.APIReader.Get(ctx, key, job)
	}
	isOurs := err == nil && (known != nil && known.Job.UID == job.UID || known == nil && metav1.IsControlledBy(job, o.Run))
	switch there := isOurs && job.DeletionTimestamp.IsZero(); {
	case isOurs:
		o.Members.Job = lifecycle.Job{Exists: there, UID: job.UID, Seen: r.seen(o.Run, "job "+string(job.UID))}
	case (err == nil || apierrors.IsNotFound(err)) && o.Run.HasFinished():
		o.Members.Gone = !r.seen(o.Run, membersGone).IsZero()
	}
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if known == nil && !o.Run.HasFinished() && lifecycle.IsAdmitted(o.Run) {
		if err := r.observeVolumes(ctx, o); err != nil {
			return err
		}
	}
	return r.observeMemberPods(ctx, o)
}

// observeVolumes looks at the storage class of a run's volumes before they are created.
func (r *EtcdBenchmarkReconciler) observeVolumes(ctx context.Context, o *lifecycle.Observed) (err error) {
	if o.Run.Status.Job != nil || o.Run.HasFinished() || !lifecycle.IsAdmitted(o.Run) {
		return nil
	}
	o.Members.Volumes, err = r.keptVolumes(ctx, o.Run.Spec.Target)
	if o.Members.ClassUnread = apierrors.IsForbidden(err); o.Members.ClassUnread {
		return nil
	}
	return err
}

// membersGone is the sighting that the API server has confirmed the end of the members' Job.
const membersGone = "members gone"

func (r *EtcdBenchmarkReconciler) observeMemberPods(ctx context.Context, o *lifecycle.Observed) error {
	o.Members.Pods = make([]lifecycle.Pod, o.Run.Spec.Target.Ephemeral.Replicas)
	for i := range o.Members.Pods {
		o.Members.Pods[i] = lifecycle.Pod{Index: i, State: lifecycle.PodMissing}
	}
	if !o.Members.Job.Exists || o.Run.HasFinished() {
		return nil
	}
	found, err := r.assignMembers(ctx, o, false)
	if err == nil && r.lostMembers(o) {
		// The cache may lag.
		found, err = r.assignMembers(ctx, o, true)
	}
	if err != nil {
		return err
	}
	if o.Run.Status.StartAt != nil {
		return r.observeNeighbours(ctx, o)
	}
	if o.Run.Status.Ephemeral == nil || o.Run.Status.Ephemeral.ReadyAt != nil || r.Clock.Now().Before(o.Members.Job.Seen.Add(refusalAfter)) {
		return nil
	}
	return r.explainMembers(ctx, o, found)
}

// observeNeighbours looks for pods of other runs, with load or members, on the nodes of the members.
func (r *EtcdBenchmarkReconciler) observeNeighbours(ctx context.Context, o *lifecycle.Observed) error {
	if known := o.Run.Status.Ephemeral; known == nil || known.NodesShared || o.Run.Status.Target == nil {
		return nil
	}
	list := &corev1.PodList{}
	err := r.Client.List(ctx, list, client.UnsafeDisableDeepCopy)
	for i := range list.Items {
		p := &list.Items[i]
		if uid := p.Labels[v1alpha1.LabelRunUID]; uid == "" || uid == string(o.Run.UID) || p.Status.Phase != corev1.PodRunning {
			continue
		}
		o.Members.NodesShared = o.Members.NodesShared || slices.Contains(o.Run.Status.Target.Nodes, p.Spec.NodeName)
	}
	return err
}

// assignMembers finds the newest pod of each member.
func (r *EtcdBenchmarkReconciler) assignMembers(ctx context.Context, o *lifecycle.Observed, live bool) (map[int]*corev1.Pod, error) {
	list, err := r.listPods(ctx, o.Run, live)
	found := map[int]*corev1.Pod{}
	for i := range list.Items {
		p := &list.Items[i]
		if index := lifecycle.IndexOf(p); isOf(p, o.Members.Job.UID) && index >= 0 && index < len(o.Members.Pods) && newer(p, found[index]) {
			found[index] = p
			o.Members.Pods[index] = lifecycle.NewPod(p, func(what string) time.Time { return r.seen(o.Run, what+" of "+string(p.UID)) })
		}
	}
	return found, err
}

// lostMembers reports whether a pod that was ready is missing and status does not say so.
func (r *EtcdBenchmarkReconciler) lostMembers(o *lifecycle.Observed) bool {
	known := o.Run.Status.Ephemeral
	return known != nil && slices.ContainsFunc(o.Members.Pods[:min(len(known.Pods), len(o.Members.Pods))], func(p lifecycle.Pod) bool {
		return known.Pods[p.Index].Lost == "" && known.Pods[p.Index].Name != p.Name
	})
}

func newer(p, than *corev1.Pod) bool {
	return than == nil || than.CreationTimestamp.Before(&p.CreationTimestamp)
}

// explainMembers adds the events that say why members wait: refused pods, and volumes.
func (r *EtcdBenchmarkReconciler) explainMembers(ctx context.Context, o *lifecycle.Observed, found map[int]*corev1.Pod) error {
	if lacksPods(o.Members.Pods) {
		refused, err := r.newestEvent(ctx, o.Run.Namespace, o.Members.Job.UID, "FailedCreate")
		if err != nil {
			return err
		}
		if refused != "" {
			o.Members.Job.Refused, o.Members.Job.RefusalSeen = refused, r.seen(o.Run, "refusal of "+string(o.Members.Job.UID))
		}
	}
	// One explains the wait; that is enough.
	i := slices.IndexFunc(o.Members.Pods, func(p lifecycle.Pod) bool { return p.State == lifecycle.PodWaiting })
	if i < 0 {
		return nil
	}
	warned, err := r.newestWarning(ctx, found[i])
	o.Members.Pods[i].Warned = warned
	return err
}

// newestEvent returns the message of the newest event of an object for a reason. Without the right to list events, only the
// reason is missing.
func (r *EtcdBenchmarkReconciler) newestEvent(ctx context.Context, namespace string, uid types.UID, reason string) (string, error) {
	return r.newestMessage(ctx, namespace, client.MatchingFields{"involvedObject.uid": string(uid), "reason": reason})
}

// newestWarning returns the newest warning about the volume claim of a pod, or about the pod.
func (r *EtcdBenchmarkReconciler) newestWarning(ctx context.Context, p *corev1.Pod) (string, error) {
	claim, err := r.newestMessage(ctx, p.Namespace, client.MatchingFields{
		"involvedObject.kind": "PersistentVolumeClaim", "involvedObject.name": p.Name + "-" + resources.DataVolume, "type": corev1.EventTypeWarning,
	})
	if claim != "" || err != nil {
		return claim, err
	}
	return r.newestMessage(ctx, p.Namespace, client.MatchingFields{"involvedObject.uid": string(p.UID), "type": corev1.EventTypeWarning})
}

func (r *EtcdBenchmarkReconciler) newestMessage(ctx context.Context, namespace string, of client.MatchingFields) (message string, err error) {
	list := &corev1.EventList{}
	if err := r.APIReader.List(ctx, list, client.InNamespace(namespace), of); err != nil {
		if apierrors.IsForbidden(err) {
			return "", nil
		}
		return "", err
	}
	var at metav1.Time
	for _, e := range list.Items {
		if message == "" || at.Before(&e.LastTimestamp) {
			message, at = e.Message, e.LastTimestamp
		}
	}
	return message, nil
}

// classOfDefault marks the storage class of claims without one.
const classOfDefault = "storageclass.kubernetes.io/is-default-class"

// keptVolumes says that the volumes of a run's members, or of its client pods, would outlive their claims; empty if not. In a
// namespaced installation, the operator may not read storage classes.
func (r *EtcdBenchmarkReconciler) keptVolumes(ctx context.Context, t v1alpha1.Target) (string, error) {
	s, field := storageOf(t)
	if s == nil || s.VolumeClaim == nil {
		return "", nil
	}
	class := &storagev1.StorageClass{}
	if name := s.VolumeClaim.StorageClassName; name != nil {
		err := r.APIReader.Get(ctx, client.ObjectKey{Name: *name}, class)
		if apierrors.IsNotFound(err) {
			return fmt.Sprintf("The storage class %s does not exist: name another in %s.volumeClaim.storageClassName.", *name, field), nil
		}
		if err != nil {
			return "", err
		}
	} else {
		list := &storagev1.StorageClassList{}
		if err := r.APIReader.List(ctx, list); err != nil {
			return "", err
		}
		for i := range list.Items {
			// Of several, Kubernetes takes the newest.
			if c := &list.Items[i]; c.Annotations[classOfDefault] == "true" && !c.CreationTimestamp.Before(&class.CreationTimestamp) {
				class = c
			}
		}
		if class.Name == "" {
			return fmt.Sprintf("The cluster has no default storage class: name one in %s.volumeClaim.storageClassName.", field), nil
		}
	}
	if p := class.ReclaimPolicy; p != nil && *p != corev1.PersistentVolumeReclaimDelete {
		return fmt.Sprintf("The storage class %s keeps volumes after their claims (reclaimPolicy %s), and each run would leave some: use one with reclaimPolicy Delete.", class.Name, *p), nil
	}
	return "", nil
}

// storageOf is where a run's members, or its client pods, have their files, and the field that says so.
func storageOf(t v1alpha1.Target) (*v1alpha1.MemberStorage, string) {
	if t.Disk != nil {
		return t.Disk.Storage, "spec.target.disk.storage"
	}
	return t.Ephemeral.Storage, "spec.target.ephemeral.storage"
}

// createMembers adopts the objects that the operator created but did not record before a restart.
func (r *EtcdBenchmarkReconciler) createMembers(ctx context.Context, run *v1alpha1.EtcdBenchmark) (*v1alpha1.JobReference, error) {
	job := resources.MembersJob(run, r.ClientImage, r.MemberUser)
	if err := r.createOwned(ctx, job, run, "the Job of the run's members"); err != nil {
		return nil, err
	}
	if err := r.createOwned(ctx, resources.MembersService(run, job), job, "the Service of the run's members"); err != nil {
		return nil, err
	}
	return &v1alpha1.JobReference{Name: job.Name, UID: job.UID}, nil
}

// createOwned creates an object, or reads the one that exists if its owner is the same.
func (r *EtcdBenchmarkReconciler) createOwned(ctx context.Context, object client.Object, owner metav1.Object, what string) error {
	err := r.Client.Create(ctx, object, fieldOwner)
	if apierrors.IsAlreadyExists(err) {
		if err = r.APIReader.Get(ctx, client.ObjectKeyFromObject(object), object); err == nil && !metav1.IsControlledBy(object, owner) {
			err = fmt.Errorf("%s cannot be created: %s exists and does not belong to this run", what, object.GetName())
			return &refusal{lifecycle.Problem{Reason: v1alpha1.ReasonPodsForbidden, Message: err.Error() + ": delete it, and create the run again."}, err}
		}
	}
	if err != nil {
		return refused(what, err)
	}
	return nil
}

// deleteMembers deletes the Job in the foreground: it is gone when its pods and their claims are.
func (r *EtcdBenchmarkReconciler) deleteMembers(ctx context.Context, o lifecycle.Observed) error {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: o.Run.Namespace, Name: o.Run.MembersName()}}
	err := r.Client.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationForeground), client.Preconditions{UID: &o.Members.Job.UID})
	return client.IgnoreNotFound(err)
}
