package resources

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

const image = "example.org/loadgen:v1"

func newRun() *v1alpha1.EtcdBenchmark {
	run := &v1alpha1.EtcdBenchmark{ObjectMeta: metav1.ObjectMeta{Name: "put", Namespace: "ns", UID: "0123456789ab-cdef"}}
	run.Spec.Target = v1alpha1.Target{Datastore: spec.Etcd, Members: spec.MembersAll, TLS: &v1alpha1.TargetTLS{SecretName: "certs"}, Auth: &v1alpha1.TargetAuth{SecretName: "user"}}
	run.Spec.Workload = spec.Workload{Type: spec.WorkloadPut, Put: &spec.Put{
		Keys: spec.Keys{Count: 10, SizeBytes: 8, Distribution: spec.Sequential}, Values: spec.Values{Content: spec.ContentRandom, SizeDistribution: spec.SizesUniform, SizeBytes: 256},
	}}
	run.Spec.Load = spec.Load{Transport: spec.TransportClient, Pods: 3, Connections: 3, Clients: 3, Requests: new(int64(9)), RequestTimeoutSeconds: 1}
	run.Spec.TimeoutSeconds = 60
	run.Status.Target = &v1alpha1.TargetStatus{Endpoints: []string{"etcd-0:2379"}}
	return run
}

func loadJob(t *testing.T, run *v1alpha1.EtcdBenchmark) *batchv1.Job {
	t.Helper()
	job, err := LoadJob(run, image, 65532)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func cleanupJob(t *testing.T, run *v1alpha1.EtcdBenchmark) *batchv1.Job {
	t.Helper()
	job, err := CleanupJob(run, image, 0)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// TestPodsAreRestricted checks the requirements of the restricted Pod Security Standard, and that the pod has no access
// to the API server.
func TestPodsAreRestricted(t *testing.T) {
	for name, job := range map[string]*batchv1.Job{"load": loadJob(t, newRun()), "cleanup": cleanupJob(t, newRun())} {
		t.Run(name, func(t *testing.T) {
			pod := job.Spec.Template.Spec
			c := pod.Containers[0].SecurityContext
			for what, ok := range map[string]bool{
				"runAsNonRoot":             *pod.SecurityContext.RunAsNonRoot,
				"no runAsUser":             pod.SecurityContext.RunAsUser == nil && c.RunAsUser == nil,
				"seccomp":                  pod.SecurityContext.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault,
				"no privilege escalation":  !*c.AllowPrivilegeEscalation,
				"capabilities dropped":     cmp.Equal(c.Capabilities, &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}),
				"read-only root":           *c.ReadOnlyRootFilesystem,
				"no API token":             !*pod.AutomountServiceAccountToken,
				"no service account":       pod.ServiceAccountName == "",
				"not restarted":            pod.RestartPolicy == corev1.RestartPolicyNever,
				"time to report":           *pod.TerminationGracePeriodSeconds == 60,
				"termination message file": pod.Containers[0].TerminationMessagePath == plan.TerminationMessageFile,
			} {
				if !ok {
					t.Errorf("wanted: %s", what)
				}
			}
		})
	}
}

func TestLoadJobRunsOnce(t *testing.T) {
	job := loadJob(t, newRun())
	s := job.Spec
	if *s.CompletionMode != batchv1.IndexedCompletion || *s.Completions != 3 || *s.Parallelism != 3 {
		t.Errorf("wanted an Indexed Job of 3 pods at once, found %+v", s)
	}
	if *s.BackoffLimitPerIndex != 0 || s.BackoffLimit != nil || s.ActiveDeadlineSeconds != nil || s.TTLSecondsAfterFinished != nil {
		t.Errorf("wanted no second try of an index, and nothing that kills the pods that live, found %+v", s)
	}
	if !metav1.IsControlledBy(job, newRun()) {
		t.Error("wanted the Job to go with its run")
	}
}

func TestPodsAreLeftAlone(t *testing.T) {
	meta := loadJob(t, newRun()).Spec.Template.ObjectMeta
	for key, want := range map[string]string{
		"cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
		"karpenter.sh/do-not-disrupt":                    "true",
		"linkerd.io/inject":                              "disabled",
		"sidecar.istio.io/inject":                        "false",
	} {
		if meta.Annotations[key] != want {
			t.Errorf("wanted the annotation %s=%s, found %q", key, want, meta.Annotations[key])
		}
	}
	if meta.Labels[v1alpha1.LabelManagedBy] != v1alpha1.ManagedBy || meta.Labels[v1alpha1.LabelRunUID] != "0123456789ab-cdef" || meta.Labels["sidecar.istio.io/inject"] != "false" {
		t.Errorf("wanted the labels that caches and meshes select by, found %v", meta.Labels)
	}
}

// Users add labels and annotations to all pods of a run, and change none of the operator's.
func TestLabelsAndAnnotationsOfUsers(t *testing.T) {
	plain, marked := newRun(), newRun()
	marked.Spec.Pod = &v1alpha1.PodSettings{
		Labels:      v1alpha1.PodMetadata{"team": "billing", v1alpha1.LabelRunUID: "another", "sidecar.istio.io/inject": "true"},
		Annotations: v1alpha1.PodMetadata{"cost": "4711", "linkerd.io/inject": "enabled", planAnnotation: "{}"},
	}
	for name, of := range map[string]func(*testing.T, *v1alpha1.EtcdBenchmark) *batchv1.Job{"load": loadJob, "cleanup": cleanupJob} {
		want, got := of(t, plain), of(t, marked)
		want.Spec.Template.Labels["team"], want.Spec.Template.Annotations["cost"] = "billing", "4711"
		if name == "load" {
			// No pod of the load Job reads it.
			want.Spec.Template.Annotations[planAnnotation] = "{}"
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-wanted +found):\n%s", name, diff)
		}
	}
}

// files maps each path in a pod to its source.
func files(pod corev1.PodSpec) map[string]string {
	out := map[string]string{}
	for i, v := range pod.Volumes {
		dir := pod.Containers[0].VolumeMounts[i].MountPath
		switch {
		case v.ConfigMap != nil:
			out[dir] = "ConfigMap " + v.ConfigMap.Name
		case v.Secret != nil && *v.Secret.Optional:
			out[dir] = "optional Secret " + v.Secret.SecretName
		case v.DownwardAPI != nil:
			for _, f := range v.DownwardAPI.Items {
				out[dir+"/"+f.Path] = f.FieldRef.FieldPath
			}
		}
	}
	return out
}

func TestFiles(t *testing.T) {
	secrets := map[string]string{plan.TLSDir: "optional Secret certs", plan.AuthDir: "optional Secret user"}
	load := map[string]string{
		plan.Dir:                                   "ConfigMap put-01234567-plan",
		plan.ControlDir + "/" + plan.StartAtFile:   "metadata.annotations['etcdbench.dev/start-at']",
		plan.ControlDir + "/" + plan.StopFile:      "metadata.annotations['etcdbench.dev/stop']",
		plan.ControlDir + "/" + plan.AdmittedFile:  "metadata.annotations['etcdbench.dev/admitted']",
		plan.ControlDir + "/" + plan.CollectedFile: "metadata.annotations['etcdbench.dev/collected']",
	}
	cleanup := map[string]string{plan.Dir + "/" + plan.File: "metadata.annotations['etcdbench.dev/plan']"}
	for path, from := range secrets {
		load[path], cleanup[path] = from, from
	}
	if diff := cmp.Diff(load, files(loadJob(t, newRun()).Spec.Template.Spec)); diff != "" {
		t.Errorf("load pod (-wanted +found):\n%s", diff)
	}
	if diff := cmp.Diff(cleanup, files(cleanupJob(t, newRun()).Spec.Template.Spec)); diff != "" {
		t.Errorf("cleanup pod (-wanted +found):\n%s", diff)
	}
}

// TestCleanupNeedsNothingOfTheRun: the run may be deleted before the Job ends.
func TestCleanupNeedsNothingOfTheRun(t *testing.T) {
	job := cleanupJob(t, newRun())
	if len(job.OwnerReferences) != 0 {
		t.Errorf("wanted no owner, found %v", job.OwnerReferences)
	}
	if *job.Spec.ActiveDeadlineSeconds != 120+waitSeconds || *job.Spec.TTLSecondsAfterFinished == 0 {
		t.Errorf("wanted it bounded, and removed even without an operator, found %+v", job.Spec)
	}
	p, err := plan.Decode([]byte(job.Spec.Template.Annotations["etcdbench.dev/plan"]))
	if err != nil || p.RunUID != "0123456789ab-cdef" || p.Prefix != "etcdbench/01234567/" {
		t.Errorf("wanted the plan of the run, found %+v, %v", p, err)
	}
	c := job.Spec.Template.Spec.Containers[0]
	if !cmp.Equal(c.Command, []string{"/loadgen"}) || c.Args[0] != "clean" {
		t.Errorf("wanted loadgen clean, found %v %v", c.Command, c.Args)
	}
}

// waitSeconds is how long the cleanup of newRun waits for signs of life.
var waitSeconds = int64(plan.StillFor(newRun().Spec.Load.RequestTimeout()) / time.Second)

// A cleanup Job has time to wait for a pod that still writes. It ends at once if that pod goes on.
func TestCleanupWaitsForPods(t *testing.T) {
	job, err := CleanupJob(newRun(), image, 5*time.Minute+time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if args := job.Spec.Template.Spec.Containers[0].Args; !slices.Contains(args, "--pod-timeout=5m0s") || *job.Spec.ActiveDeadlineSeconds != 120+waitSeconds+300 {
		t.Errorf("found %v, and %d s", args, *job.Spec.ActiveDeadlineSeconds)
	}
	rules := job.Spec.PodFailurePolicy.Rules
	if len(rules) != 1 || rules[0].Action != batchv1.PodFailurePolicyActionFailJob || !slices.Equal(rules[0].OnExitCodes.Values, []int32{plan.ExitStillWrites}) {
		t.Errorf("found %+v", rules)
	}
	if p, err := PlanOf(job); err != nil || p.RunUID != string(newRun().UID) {
		t.Errorf("found the plan %+v, %v", p, err)
	}
}

// TestCleanupHasTimeForItsKeys: a Job with too little time would leave the keys forever.
func TestCleanupHasTimeForItsKeys(t *testing.T) {
	for keys, want := range map[int64]int64{1: 120, 4_000_000: 1_120, 99_999_999: 3_600} {
		run := newRun()
		run.Spec.Workload.Put.Keys.Count = keys
		job, err := CleanupJob(run, image, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := *job.Spec.ActiveDeadlineSeconds - waitSeconds; got != want {
			t.Errorf("for %d keys: wanted %d s, found %d s", keys, want, got)
		}
	}
	run := newRun()
	run.Spec.Workload = spec.Workload{Type: spec.WorkloadKubernetes, Kubernetes: &spec.Kubernetes{Nodes: 5000}}
	job, err := CleanupJob(run, image, 0)
	if err != nil {
		t.Fatal(err)
	}
	// 5,000 leases and 150,000 pods.
	if got := *job.Spec.ActiveDeadlineSeconds; got != 120+155_000/cleanupKeysPerSecond+waitSeconds {
		t.Errorf("for 155,000 objects: found %d s", got)
	}
}

func TestPlanConfigMap(t *testing.T) {
	configMap, err := PlanConfigMap(newRun())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Decode([]byte(configMap.Data[plan.File])); err != nil || !*configMap.Immutable {
		t.Errorf("wanted an immutable plan, found %v", err)
	}
	if owner := configMap.OwnerReferences[0]; *owner.UID != newRun().UID || !*owner.Controller {
		t.Errorf("wanted the plan to go with its run, found %+v", owner)
	}
	unresolved := newRun()
	unresolved.Status.Target = nil
	if _, err := PlanConfigMap(unresolved); err == nil || !strings.Contains(err.Error(), "endpoints") {
		t.Errorf("wanted an error that names the endpoints, found %v", err)
	}
}

// TestPodsTakeOnePlan: a ConfigMap can be replaced and an annotation changed, but the digest in the arguments cannot.
func TestPodsTakeOnePlan(t *testing.T) {
	configMap, err := PlanConfigMap(newRun())
	if err != nil {
		t.Fatal(err)
	}
	cleanup := cleanupJob(t, newRun()).Spec.Template
	for name, tc := range map[string]struct {
		pod  corev1.PodSpec
		plan string
		args []string
	}{
		"load":    {loadJob(t, newRun()).Spec.Template.Spec, configMap.Data[plan.File], nil},
		"cleanup": {cleanup.Spec, cleanup.Annotations[planAnnotation], []string{"clean"}},
	} {
		t.Run(name, func(t *testing.T) {
			want := append(tc.args, "--plan-sha256="+plan.Digest([]byte(tc.plan)))
			if diff := cmp.Diff(want, tc.pod.Containers[0].Args[:len(want)]); diff != "" {
				t.Errorf("arguments (-wanted +found):\n%s", diff)
			}
		})
	}
	elsewhere := newRun()
	elsewhere.Status.Target.Endpoints = []string{"etcd-1:2379"}
	if a, b := loadJob(t, newRun()), loadJob(t, elsewhere); cmp.Equal(a.Spec.Template.Spec.Containers[0].Args, b.Spec.Template.Spec.Containers[0].Args) {
		t.Error("runs on other addresses take the same plan")
	}
	elsewhere.Status.Target = nil
	if _, err := LoadJob(elsewhere, image, 65532); err == nil {
		t.Error("wanted no pods without a plan")
	}
}

func TestPodSettings(t *testing.T) {
	run := newRun()
	if got := loadJob(t, run).Spec.Template.Spec.Containers[0].Resources; got.Limits != nil || got.Requests.Cpu().MilliValue() != 100 {
		t.Errorf("wanted a small request and no limit by default, found %+v", got)
	}
	run.Spec.Pod = &v1alpha1.PodSettings{
		Resources:        &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}},
		NodeSelector:     map[string]string{"disk": "ssd"},
		Tolerations:      []corev1.Toleration{{Key: "k"}},
		Affinity:         &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{}},
		ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull"}},
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{
			{TopologyKey: "zone"},
		},
	}
	for _, pod := range []corev1.PodSpec{loadJob(t, run).Spec.Template.Spec, loadPod(run, image, nil, 0)} {
		got := &v1alpha1.PodSettings{
			Resources: &pod.Containers[0].Resources, NodeSelector: pod.NodeSelector, Tolerations: pod.Tolerations,
			Affinity: pod.Affinity, ImagePullSecrets: pod.ImagePullSecrets, TopologySpreadConstraints: pod.TopologySpreadConstraints,
		}
		if diff := cmp.Diff(run.Spec.Pod, got); diff != "" {
			t.Errorf("pod settings (-wanted +found):\n%s", diff)
		}
	}
}
