package resources

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

func membersJob(changes ...func(*v1alpha1.EtcdBenchmark)) *batchv1.Job {
	run := newRun()
	run.Spec.Target = v1alpha1.Target{Datastore: spec.Etcd, Ephemeral: &v1alpha1.EphemeralTarget{Replicas: 3, Image: "example.org/etcd:v3"}}
	for _, change := range changes {
		change(run)
	}
	return MembersJob(run, "example.org/loadgen:v1", 65532)
}

func TestMembersAreRestricted(t *testing.T) {
	pod := membersJob().Spec.Template.Spec
	c, s := pod.Containers[0], pod.SecurityContext
	for what, ok := range map[string]bool{
		"a user":                 *s.RunAsUser == 65532 && *s.RunAsGroup == 65532 && *s.FSGroup == 65532,
		"runAsNonRoot":           *s.RunAsNonRoot,
		"seccomp":                s.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault,
		"no escalation":          !*c.SecurityContext.AllowPrivilegeEscalation,
		"no capabilities":        cmp.Equal(c.SecurityContext.Capabilities, &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}),
		"a read-only root":       *c.SecurityContext.ReadOnlyRootFilesystem,
		"no token":               !*pod.AutomountServiceAccountToken,
		"no variables":           !*pod.EnableServiceLinks && len(c.Env) == 0,
		"the end of the log":     c.TerminationMessagePolicy == corev1.TerminationMessageFallbackToLogsOnError,
		"restarts":               pod.RestartPolicy == corev1.RestartPolicyOnFailure,
		"a folder of etcd's own": slices.Contains(c.Args, "--data-dir=/data/etcd"),
	} {
		if !ok {
			t.Errorf("wanted: %s", what)
		}
	}
	for what, ok := range map[string]bool{
		"after the member":   pod.Containers[1].Name == "sampler",
		"its image":          pod.Containers[1].Image == "example.org/loadgen:v1",
		"its port":           pod.Containers[1].Ports[0].ContainerPort == plan.SamplerPort,
		"its security":       cmp.Equal(pod.Containers[1].SecurityContext, c.SecurityContext),
		"the user of etcd":   pod.Containers[1].SecurityContext.RunAsUser == nil,
		"etcd's process":     *pod.ShareProcessNamespace,
		"no probe":           pod.Containers[1].ReadinessProbe == nil,
		"guaranteed service": cmp.Equal(pod.Containers[1].Resources.Requests, pod.Containers[1].Resources.Limits),
	} {
		if !ok {
			t.Errorf("the sampler lacks: %s", what)
		}
	}
	if s := MembersJob(newRunWithMembers(), "l", 0).Spec.Template.Spec.SecurityContext; s.RunAsUser != nil || s.FSGroup != nil {
		t.Errorf("wanted the cluster to choose the user, found %+v", s)
	}
}

// ZooKeeper needs two files and Java's flags. Its sampler says when it serves.
func TestMembersOfZooKeeper(t *testing.T) {
	job := membersJob(func(b *v1alpha1.EtcdBenchmark) {
		b.Spec.Target.Datastore = spec.ZooKeeper
		b.Spec.Target.Ephemeral.Settings = map[string]v1alpha1.MemberSetting{"snapCount": "5", "jvmFlags": "-Xmx1g"}
	})
	template := job.Spec.Template
	c, files := template.Spec.Containers[0], map[string]string{}
	for _, item := range template.Spec.Volumes[1].DownwardAPI.Items {
		files[item.Path] = item.FieldRef.FieldPath
	}
	const host = "put-01234567-members-2.put-01234567-members.ns.svc"
	config := template.Annotations["etcdbench.dev/zoo.cfg"]
	for what, ok := range map[string]bool{
		"its command":    cmp.Equal(c.Command, []string{"zkServer.sh"}) && cmp.Equal(c.Args, []string{"start-foreground", "/config/zoo.cfg"}),
		"Java's flags":   cmp.Equal(c.Env, []corev1.EnvVar{{Name: "SERVER_JVMFLAGS", Value: "-Xmx1g"}}),
		"its file":       files["zoo.cfg"] == "metadata.annotations['etcdbench.dev/zoo.cfg']" && strings.Contains(config, "snapCount=5\n"),
		"its number":     files["myid"] == "metadata.annotations['batch.kubernetes.io/job-completion-index']",
		"where they are": c.VolumeMounts[1].MountPath == "/config/zoo.cfg" && c.VolumeMounts[2].MountPath == "/data/myid" && strings.Contains(config, "dataDir=/data\n"),
		"the others":     strings.Contains(config, "server.2="+host+":2888:3888\n") && strings.Contains(config, "quorumListenOnAllIPs=true"),
		"its ports":      len(c.Ports) == 3 && c.Ports[0].ContainerPort == 2181,
		"its readiness":  c.ReadinessProbe.HTTPGet.Port.IntVal == plan.SamplerPort && c.ReadinessProbe.HTTPGet.Path == plan.ReadyPath,
		"its sampler":    slices.Contains(template.Spec.Containers[1].Args, "--datastore=ZooKeeper"),
	} {
		if !ok {
			t.Errorf("wanted: %s; found %+v, and the file\n%s", what, c, config)
		}
	}
}

func TestMembersOfConsul(t *testing.T) {
	pod := membersJob(func(b *v1alpha1.EtcdBenchmark) { b.Spec.Target.Datastore = spec.Consul }).Spec.Template.Spec
	c := pod.Containers[0]
	for what, ok := range map[string]bool{
		"its command":   cmp.Equal(c.Command, []string{"consul"}) && c.Args[0] == "agent" && slices.Contains(c.Args, "-bootstrap-expect=3") && slices.Contains(c.Args, "-data-dir=/data"),
		"its address":   slices.ContainsFunc(c.Args, func(a string) bool { return strings.HasPrefix(a, "-advertise={{ GetAllInterfaces") }),
		"the others":    slices.Contains(c.Args, "-retry-join=put-01234567-members-2.put-01234567-members.ns.svc:8301"),
		"its readiness": c.ReadinessProbe.HTTPGet.Port.StrVal == "client" && strings.Contains(c.ReadinessProbe.HTTPGet.Path, "consistent"),
		"no files":      len(pod.Volumes) == 1 && len(c.VolumeMounts) == 1 && len(c.Env) == 0,
	} {
		if !ok {
			t.Errorf("wanted: %s; found %+v", what, c)
		}
	}
}

func newRunWithMembers() *v1alpha1.EtcdBenchmark {
	run := newRun()
	run.Spec.Target.Ephemeral = &v1alpha1.EphemeralTarget{Replicas: 1, Image: "e"}
	return run
}

// Each member finds the others by the names that their Service gives them.
func TestMembersFindEachOther(t *testing.T) {
	job := membersJob(func(b *v1alpha1.EtcdBenchmark) {
		b.Spec.Target.Ephemeral.Settings = map[string]v1alpha1.MemberSetting{"snapshot-count": "5", "auto-compaction-retention": "1h"}
	})
	args := strings.Join(job.Spec.Template.Spec.Containers[0].Args, " ")
	const host = "put-01234567-members-%.put-01234567-members.ns.svc"
	for _, want := range []string{
		"--name=member-$(JOB_COMPLETION_INDEX)",
		"--initial-advertise-peer-urls=http://" + strings.Replace(host, "%", "$(JOB_COMPLETION_INDEX)", 1) + ":2380",
		"member-2=http://" + strings.Replace(host, "%", "2", 1) + ":2380",
		"--auto-compaction-retention=1h --snapshot-count=5",
	} {
		if !strings.Contains(args, want) {
			t.Errorf("wanted %s in %s", want, args)
		}
	}
	service := MembersService(newRunWithMembers(), job)
	for key, value := range service.Spec.Selector {
		if job.Spec.Template.Labels[key] != value {
			t.Errorf("the Service selects %s=%s, and the pods have %q", key, value, job.Spec.Template.Labels[key])
		}
	}
	if job.Spec.Template.Spec.Subdomain != service.Name {
		t.Errorf("the pods are in the subdomain %s of the Service %s", job.Spec.Template.Spec.Subdomain, service.Name)
	}
}

// Members stay off the nodes of a control plane in every alternative, unless the run acknowledges that.
func TestPlacementOfMembers(t *testing.T) {
	zones := func(b *v1alpha1.EtcdBenchmark) {
		zone := func(name string) corev1.NodeSelectorTerm {
			return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{name}}}}
		}
		b.Spec.Target.Ephemeral.Placement = &v1alpha1.MemberPlacement{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{zone("a"), zone("b")}},
		}}}
	}
	for name, tc := range map[string]struct {
		changes []func(*v1alpha1.EtcdBenchmark)
		// terms is how many alternatives there are, off how many keep the members off the control plane.
		terms, off int
	}{
		"any node":     {nil, 1, 1},
		"two zones":    {[]func(*v1alpha1.EtcdBenchmark){zones}, 2, 2},
		"acknowledged": {[]func(*v1alpha1.EtcdBenchmark){zones, func(b *v1alpha1.EtcdBenchmark) { b.Spec.Guard = &spec.Guard{AcknowledgeControlPlane: true} }}, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			pod := membersJob(tc.changes...).Spec.Template.Spec
			terms, off := pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, 0
			for _, term := range terms {
				if slices.ContainsFunc(term.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool { return r.Key == controlPlaneRoles[0] }) {
					off++
				}
			}
			if len(terms) != tc.terms || off != tc.off || len(pod.TopologySpreadConstraints) != 1 {
				t.Errorf("found %d alternatives, %d of them off the control plane, and %d constraints; wanted %d and %d, and one", len(terms), off, len(pod.TopologySpreadConstraints), tc.terms, tc.off)
			}
		})
	}
}

// Members end by themselves some time after the longest run, and the name of their Service begins with a letter.
func TestMembersWithoutAnOperator(t *testing.T) {
	job := membersJob(func(b *v1alpha1.EtcdBenchmark) {
		b.Name, b.Spec.TimeoutSeconds, b.Spec.Target.Ephemeral.KeepSeconds = "3-7", 600, 50
	})
	if d := *job.Spec.ActiveDeadlineSeconds; d < 650 || d > 7200 || job.Name != "m-3-7-01234567-members" {
		t.Errorf("found %s with a deadline of %d s", job.Name, d)
	}
}

func TestClientPodsKeepOffTheMembers(t *testing.T) {
	if a := loadJob(t, newRun()).Spec.Template.Spec.Affinity; a != nil {
		t.Errorf("found the affinity %+v without members of the run", a)
	}
	a := loadJob(t, newRunWithMembers()).Spec.Template.Spec.Affinity
	if a == nil || a.PodAntiAffinity == nil || len(a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution) != 1 {
		t.Errorf("wanted the client pods to prefer other nodes, found %+v", a)
	}
}
