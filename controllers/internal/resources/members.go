package resources

import (
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ephemeral"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

const (
	memberClientPort, memberPeerPort = 2379, 2380
	dataPath                         = "/data"
	// memberGraceSeconds is short: the data is deleted with the member.
	memberGraceSeconds = 1
	// memberRestarts lets the kubelet restart a member for as long as its pod lives.
	memberRestarts = 1 << 20
	hostname       = "kubernetes.io/hostname"
	// memberMarginSeconds is for what no time-out of the run includes, such as the deletion of the client pods.
	memberMarginSeconds = 900
	// indexVariable is set by Kubernetes in the containers of an Indexed Job.
	indexVariable = "$(JOB_COMPLETION_INDEX)"
)

// controlPlaneRoles are labels of nodes that may have the disk of a control plane's etcd. Some distributions have nodes for
// etcd alone.
var controlPlaneRoles = []string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/etcd"}

// DataVolume is the name of a member's volume. That of its claim is the pod's, a hyphen, and this.
const DataVolume = "data"

// membersOf are the members of a run. Their names resolve only to pods that the Job has created.
func membersOf(run *v1alpha1.EtcdBenchmark) []ephemeral.Member {
	all := make([]ephemeral.Member, run.Spec.Target.Ephemeral.Replicas)
	for i := range all {
		all[i] = member(run, strconv.Itoa(i))
	}
	return all
}

func member(run *v1alpha1.EtcdBenchmark, index string) ephemeral.Member {
	name := run.MembersName()
	return ephemeral.Member{
		Name: "member-" + index, Listen: "0.0.0.0", Host: fmt.Sprintf("%s-%s.%s.%s.svc", name, index, name, run.Namespace),
		ClientPort: strconv.Itoa(memberClientPort), PeerPort: strconv.Itoa(memberPeerPort), DataDir: dataPath + "/etcd",
	}
}

// MemberEndpoints are the addresses of a run's own members for clients.
func MemberEndpoints(run *v1alpha1.EtcdBenchmark) (all []string) {
	for _, m := range membersOf(run) {
		all = append(all, m.Client())
	}
	return all
}

// MembersJob returns the Job of a run's own members. image is that of client pods. user is the user and group of their
// processes; 0 leaves it to the cluster. A deleted pod is replaced: while other members answer, etcd refuses to start this one
// without its data, and the run ends if most are replaced.
func MembersJob(run *v1alpha1.EtcdBenchmark, image string, user int64) *batchv1.Job {
	t := run.Spec.Target.Ephemeral
	meta := metav1.ObjectMeta{Labels: Labels(run, v1alpha1.ComponentMember), Annotations: podAnnotations(run, nil)}
	meta.Labels["sidecar.istio.io/inject"] = "false"
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name:            run.MembersName(),
			Namespace:       run.Namespace,
			Labels:          Labels(run, v1alpha1.ComponentMember),
			OwnerReferences: []metav1.OwnerReference{controllerOf(run)},
		},
		Spec: batchv1.JobSpec{
			CompletionMode: new(batchv1.IndexedCompletion),
			Completions:    &t.Replicas,
			Parallelism:    &t.Replicas,
			BackoffLimit:   new(int32(memberRestarts)),
			// Members end also if no operator is left.
			ActiveDeadlineSeconds: new(int64(t.StartTimeoutSeconds+run.Spec.SchedulingTimeoutSeconds+run.Spec.TimeoutSeconds+t.KeepSeconds) + memberMarginSeconds),
			Template:              corev1.PodTemplateSpec{ObjectMeta: meta, Spec: memberPod(run, image, user)},
		},
	}
}

// MembersService lets the members and their clients find each other before all are ready. It goes with the Job.
func MembersService(run *v1alpha1.EtcdBenchmark, job *batchv1.Job) *corev1.Service {
	owner := *metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))
	owner.BlockOwnerDeletion = new(false)
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Name:            run.MembersName(),
			Namespace:       run.Namespace,
			Labels:          Labels(run, v1alpha1.ComponentMember),
			OwnerReferences: []metav1.OwnerReference{owner},
		},
		Spec: corev1.ServiceSpec{
			ClusterIP:                corev1.ClusterIPNone,
			PublishNotReadyAddresses: true,
			Selector:                 map[string]string{v1alpha1.LabelRunUID: string(run.UID), v1alpha1.LabelComponent: v1alpha1.ComponentMember},
			Ports: []corev1.ServicePort{
				{Name: "client", Port: memberClientPort, TargetPort: intstr.FromInt32(memberClientPort)},
				{Name: "peer", Port: memberPeerPort, TargetPort: intstr.FromInt32(memberPeerPort)},
			},
		},
	}
}

func memberPod(run *v1alpha1.EtcdBenchmark, image string, user int64) corev1.PodSpec {
	t := run.Spec.Target.Ephemeral.DeepCopy()
	settings := map[string]string{}
	addTo(settings, t.Settings)
	c := corev1.Container{
		Name:            lifecycle.MemberContainerName,
		Image:           t.Image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{"etcd"},
		Args:            ephemeral.Etcd(member(run, indexVariable), membersOf(run), string(run.UID), settings),
		Ports: []corev1.ContainerPort{
			{Name: "client", ContainerPort: memberClientPort}, {Name: "peer", ContainerPort: memberPeerPort},
		},
		VolumeMounts: []corev1.VolumeMount{{Name: DataVolume, MountPath: dataPath}},
		ReadinessProbe: &corev1.Probe{
			ProbeHandler:     corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/health", Port: intstr.FromString("client")}},
			PeriodSeconds:    1,
			TimeoutSeconds:   5,
			FailureThreshold: 3,
		},
		// The last lines of the log say why a member has ended.
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		SecurityContext:          restricted(),
	}
	if t.Resources != nil {
		c.Resources = *t.Resources
	}
	spec := barePod(c, memberGraceSeconds)
	spec.Containers = append(spec.Containers, sampler(image))
	// The sampler sees the process of etcd, and may read what it does because both have the same user.
	spec.ShareProcessNamespace = new(true)
	spec.RestartPolicy = corev1.RestartPolicyOnFailure
	spec.Subdomain = run.MembersName()
	spec.Volumes = []corev1.Volume{{Name: DataVolume, VolumeSource: dataSource(t.Storage)}}
	if user != 0 {
		s := spec.SecurityContext
		s.RunAsUser, s.RunAsGroup, s.FSGroup = &user, &user, &user
	}
	if p := t.Placement; p != nil {
		spec.NodeSelector, spec.Tolerations, spec.Affinity, spec.TopologySpreadConstraints = p.NodeSelector, p.Tolerations, p.Affinity, p.TopologySpreadConstraints
	}
	if run.Spec.Pod != nil {
		spec.ImagePullSecrets = run.Spec.Pod.DeepCopy().ImagePullSecrets
	}
	if len(spec.TopologySpreadConstraints) == 0 {
		spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: hostname, WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelRunUID: string(run.UID), v1alpha1.LabelComponent: v1alpha1.ComponentMember}},
		}}
	}
	if run.Spec.Guard == nil || !run.Spec.Guard.AcknowledgeControlPlane {
		keepOffControlPlane(&spec)
	}
	return spec
}

// sampler measures the member. No run depends on it, so it has no probe.
func sampler(image string) corev1.Container {
	// With requests equal to limits, the pod of a member that has a guaranteed quality of service keeps it.
	small := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("25m"), corev1.ResourceMemory: resource.MustParse("64Mi")}
	return corev1.Container{
		Name:            "sampler",
		Image:           image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{loadgenPath},
		Args:            []string{"sample"},
		Resources:       corev1.ResourceRequirements{Requests: small, Limits: small},
		Ports:           []corev1.ContainerPort{{Name: "sampler", ContainerPort: plan.SamplerPort}},
		SecurityContext: restricted(),
	}
}

// dataSource is where a member keeps its data. A generic ephemeral volume belongs to its pod: a claim of somebody else with its
// name is never used, and the claim goes with the pod.
func dataSource(s *v1alpha1.MemberStorage) corev1.VolumeSource {
	switch {
	case s != nil && s.VolumeClaim != nil:
		return corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				StorageClassName: s.VolumeClaim.StorageClassName,
				Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: s.VolumeClaim.Size}},
			},
		}}}
	case s != nil && s.EmptyDir != nil:
		return corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: s.EmptyDir.Medium, SizeLimit: s.EmptyDir.SizeLimit}}
	}
	return corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
}

// keepOffControlPlane adds to each alternative of the pod's node affinity that the node is not one of a control plane: its
// default disk is often that of the control plane's etcd.
func keepOffControlPlane(spec *corev1.PodSpec) {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	required := &spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if *required == nil {
		*required = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}
	}
	for i := range (*required).NodeSelectorTerms {
		term := &(*required).NodeSelectorTerms[i]
		for _, role := range controlPlaneRoles {
			term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{Key: role, Operator: corev1.NodeSelectorOpDoesNotExist})
		}
	}
}

// keepOffMembers asks the scheduler for other nodes than those of the run's own members, if there are any.
func keepOffMembers(run *v1alpha1.EtcdBenchmark, spec *corev1.PodSpec) {
	if run.Spec.Target.Ephemeral == nil || spec.Affinity != nil {
		return
	}
	term := corev1.PodAffinityTerm{
		TopologyKey:   hostname,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelComponent: v1alpha1.ComponentMember}},
	}
	spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 100, PodAffinityTerm: term}},
	}}
}
