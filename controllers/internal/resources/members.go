package resources

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

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
	dataPath, filesPath = "/data", "/config"
	// memberGraceSeconds is short: the data is deleted with the member.
	memberGraceSeconds = 1
	// memberRestarts lets the kubelet restart a member for as long as its pod lives.
	memberRestarts = 1 << 20
	hostname       = "kubernetes.io/hostname"
	// memberMarginSeconds is for what no time-out of the run includes, such as the deletion of the client pods.
	memberMarginSeconds = 900
	// indexVariable is set by Kubernetes in the containers of an Indexed Job.
	indexVariable = "$(JOB_COMPLETION_INDEX)"
	// filesVolume has the files that a member needs before its start. They come from annotations of its pod.
	filesVolume = "files"
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
	name, store := run.MembersName(), storeOf(run)
	return ephemeral.Member{
		Index: index, Name: "member-" + index, Listen: "0.0.0.0", Host: fmt.Sprintf("%s-%s.%s.%s.svc", name, index, name, run.Namespace),
		Ports: store.Ports, DataDir: path.Join(dataPath, store.Folder), ConfigDir: filesPath,
	}
}

// storeOf is how the members of a run are started. The API server accepts no other stores.
func storeOf(run *v1alpha1.EtcdBenchmark) ephemeral.Store {
	store, _ := ephemeral.Of(run.Spec.Target.Datastore)
	return store
}

// MemberEndpoints are the addresses of a run's own members for clients.
func MemberEndpoints(run *v1alpha1.EtcdBenchmark) (all []string) {
	for _, m := range membersOf(run) {
		all = append(all, m.Endpoint())
	}
	return all
}

// MembersJob returns the Job of a run's own members. image is that of client pods. user is the user and group of their
// processes; 0 leaves it to the cluster. A deleted pod is replaced: while other members answer, etcd refuses to start this one
// without its data, and the run ends if most are replaced.
func MembersJob(run *v1alpha1.EtcdBenchmark, image string, user int64) *batchv1.Job {
	t := run.Spec.Target.Ephemeral
	process := processOf(run)
	meta := metav1.ObjectMeta{Labels: Labels(run, v1alpha1.ComponentMember), Annotations: podAnnotations(run, fileAnnotations(process))}
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
			Template:              corev1.PodTemplateSpec{ObjectMeta: meta, Spec: memberPod(run, process, image, user)},
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
			Ports:                    servicePorts(storeOf(run).Ports),
		},
	}
}

// processOf is how each member of a run starts.
func processOf(run *v1alpha1.EtcdBenchmark) ephemeral.Process {
	settings := map[string]string{}
	addTo(settings, run.Spec.Target.Ephemeral.Settings)
	return storeOf(run).Start(member(run, indexVariable), membersOf(run), string(run.UID), settings)
}

// portsOf are the ports of a member, by name.
func portsOf(p ephemeral.Ports) (all []corev1.ContainerPort) {
	for _, port := range []struct{ name, number string }{{"client", p.Client}, {"peer", p.Peer}, {"mesh", p.Mesh}} {
		if n, err := strconv.ParseInt(port.number, 10, 32); err == nil {
			all = append(all, corev1.ContainerPort{Name: port.name, ContainerPort: int32(n)})
		}
	}
	return all
}

func servicePorts(p ephemeral.Ports) (all []corev1.ServicePort) {
	for _, port := range portsOf(p) {
		all = append(all, corev1.ServicePort{Name: port.Name, Port: port.ContainerPort, TargetPort: intstr.FromInt32(port.ContainerPort)})
	}
	return all
}

// fileAnnotation is the annotation of a member's pod with the content of a file.
func fileAnnotation(file string) string { return v1alpha1.GroupVersion.Group + "/" + path.Base(file) }

// fileAnnotations have the files of a member, except those that differ from member to member.
func fileAnnotations(p ephemeral.Process) map[string]string {
	all := map[string]string{}
	for file, content := range p.Files {
		if content != indexVariable {
			all[fileAnnotation(file)] = content
		}
	}
	return all
}

// addFiles gives a member its files. A file with its number comes from the annotation that Kubernetes sets.
func addFiles(spec *corev1.PodSpec, files map[string]string) {
	if len(files) == 0 {
		return
	}
	source := &corev1.DownwardAPIVolumeSource{}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		annotation := fileAnnotation(file)
		if files[file] == indexVariable {
			annotation = batchv1.JobCompletionIndexAnnotation
		}
		source.Items = append(source.Items, corev1.DownwardAPIVolumeFile{
			Path: path.Base(file), FieldRef: &corev1.ObjectFieldSelector{FieldPath: fmt.Sprintf("metadata.annotations['%s']", annotation)},
		})
		mounts := &spec.Containers[0].VolumeMounts
		*mounts = append(*mounts, corev1.VolumeMount{Name: filesVolume, MountPath: file, SubPath: path.Base(file), ReadOnly: true})
	}
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: filesVolume, VolumeSource: corev1.VolumeSource{DownwardAPI: source}})
}

// readiness asks the member, or its sampler if the member does not speak HTTP.
func readiness(store ephemeral.Store) *corev1.Probe {
	ask := &corev1.HTTPGetAction{Path: store.Health, Port: intstr.FromString("client")}
	if store.Health == "" {
		ask = &corev1.HTTPGetAction{Path: plan.ReadyPath, Port: intstr.FromInt32(plan.SamplerPort)}
	}
	return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: ask}, PeriodSeconds: 1, TimeoutSeconds: 5, FailureThreshold: 3}
}

func memberPod(run *v1alpha1.EtcdBenchmark, process ephemeral.Process, image string, user int64) corev1.PodSpec {
	t, store := run.Spec.Target.Ephemeral.DeepCopy(), storeOf(run)
	c := corev1.Container{
		Name:            lifecycle.MemberContainerName,
		Image:           t.Image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{store.Program},
		Args:            process.Args,
		Ports:           portsOf(store.Ports),
		VolumeMounts:    []corev1.VolumeMount{{Name: DataVolume, MountPath: dataPath}},
		ReadinessProbe:  readiness(store),
		// The last lines of the log say why a member has ended.
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		SecurityContext:          restricted(),
	}
	for _, variable := range process.Env {
		name, value, _ := strings.Cut(variable, "=")
		c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: value})
	}
	if t.Resources != nil {
		c.Resources = *t.Resources
	}
	spec := barePod(c, memberGraceSeconds)
	spec.Containers = append(spec.Containers, sampler(run, image))
	// The sampler sees the process of the member, and may read what it does because both have the same user.
	spec.ShareProcessNamespace = new(true)
	spec.RestartPolicy = corev1.RestartPolicyOnFailure
	spec.Subdomain = run.MembersName()
	spec.Volumes = []corev1.Volume{{Name: DataVolume, VolumeSource: dataSource(t.Storage)}}
	addFiles(&spec, process.Files)
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

// sampler measures the member, and answers the probe of a ZooKeeper. It has no probe of its own: a run goes on without its figures.
func sampler(run *v1alpha1.EtcdBenchmark, image string) corev1.Container {
	// With requests equal to limits, the pod of a member that has a guaranteed quality of service keeps it.
	small := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("25m"), corev1.ResourceMemory: resource.MustParse("64Mi")}
	return corev1.Container{
		Name:            "sampler",
		Image:           image,
		ImagePullPolicy: corev1.PullIfNotPresent,
		Command:         []string{loadgenPath},
		Args:            []string{"sample", "--" + plan.DatastoreFlag + "=" + string(run.Spec.Target.Datastore)},
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
