package resources

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/lifecycle"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

const (
	loadgenPath = "/loadgen"
	// metricsPortName is the port name that a PodMonitor selects.
	metricsPortName = "metrics"
	// graceSeconds is the time for a terminating pod to drain, delete its keys and write its result.
	graceSeconds int64 = 60
)

func loadPod(run *v1alpha1.EtcdBenchmark, image string, encodedPlan []byte, user int64) corev1.PodSpec {
	volumes := loadVolumes(run)
	c := container(run, image, volumes)
	c.Args = []string{onlyPlan(encodedPlan)}
	c.Ports = []corev1.ContainerPort{{Name: metricsPortName, ContainerPort: plan.MetricsPort}}
	c.ReadinessProbe = &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Path: plan.ReadyPath, Port: intstr.FromString(metricsPortName),
		}},
		PeriodSeconds: 1,
		// A pod under full load answers late; the probe must not fail then.
		TimeoutSeconds:   5,
		FailureThreshold: 3,
	}
	spec := podSpec(run, c, volumes)
	addDisk(run, &spec, user)
	return spec
}

func cleanupPod(run *v1alpha1.EtcdBenchmark, image string, encodedPlan []byte, podTimeout time.Duration) corev1.PodSpec {
	volumes := cleanupVolumes(run)
	c := container(run, image, volumes)
	c.Args = []string{"clean", onlyPlan(encodedPlan), "--" + plan.PodTimeoutFlag + "=" + podTimeout.Truncate(time.Second).String()}
	return podSpec(run, c, volumes)
}

// onlyPlan is the argument that makes the pod refuse any other plan.
func onlyPlan(encoded []byte) string { return "--" + plan.DigestFlag + "=" + plan.Digest(encoded) }

func container(run *v1alpha1.EtcdBenchmark, image string, volumes []mounted) corev1.Container {
	return corev1.Container{
		Name:                     lifecycle.ContainerName,
		Image:                    image,
		ImagePullPolicy:          corev1.PullIfNotPresent,
		Command:                  []string{loadgenPath},
		Resources:                resources(run.Spec.Pod),
		VolumeMounts:             mounts(volumes),
		TerminationMessagePath:   plan.TerminationMessageFile,
		TerminationMessagePolicy: corev1.TerminationMessageReadFile,
		SecurityContext:          restricted(),
	}
}

// podSpec returns the pod of a container that has access to neither the node nor the API server.
func podSpec(run *v1alpha1.EtcdBenchmark, c corev1.Container, volumes []mounted) corev1.PodSpec {
	spec := barePod(c, graceSeconds)
	spec.Volumes = sources(volumes)
	place(&spec, run.Spec.Pod)
	keepOffMembers(run, &spec)
	return spec
}

// barePod is a pod as the policy restricted of Kubernetes wants it, without a token of the API server.
func barePod(c corev1.Container, grace int64) corev1.PodSpec {
	return corev1.PodSpec{
		RestartPolicy:                 corev1.RestartPolicyNever,
		Containers:                    []corev1.Container{c},
		TerminationGracePeriodSeconds: &grace,
		AutomountServiceAccountToken:  new(false),
		EnableServiceLinks:            new(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot:   new(true),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
	}
}

func restricted() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false),
		ReadOnlyRootFilesystem:   new(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

func place(spec *corev1.PodSpec, s *v1alpha1.PodSettings) {
	if s == nil {
		return
	}
	s = s.DeepCopy()
	spec.NodeSelector = s.NodeSelector
	spec.Tolerations = s.Tolerations
	spec.Affinity = s.Affinity
	spec.TopologySpreadConstraints = s.TopologySpreadConstraints
	spec.ImagePullSecrets = s.ImagePullSecrets
}

// resources sets no limits by default, because a CPU limit throttles the measurement.
func resources(s *v1alpha1.PodSettings) corev1.ResourceRequirements {
	if s != nil && s.Resources != nil {
		return *s.Resources.DeepCopy()
	}
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("100m"),
		corev1.ResourceMemory: resource.MustParse("128Mi"),
	}}
}
