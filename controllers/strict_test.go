package controllers

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/controllers/internal/resources"
)

// asOperator has the rights of config/rbac/role.yaml in the namespaces of grantRole.
const asOperator = "system:serviceaccount:etcdbench-system:etcd-benchmark-operator"

// jobsAs creates Jobs with another identity.
type jobsAs struct {
	client.Client
	jobs client.Client
}

func (c jobsAs) Create(ctx context.Context, o client.Object, options ...client.CreateOption) error {
	if _, is := o.(*batchv1.Job); is {
		return c.jobs.Create(ctx, o, options...)
	}
	return c.Client.Create(ctx, o, options...)
}

// grant gives a user rights in the namespace of the run.
func (s *harness) grant(user string, rules []rbacv1.PolicyRule) {
	s.t.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{GenerateName: "grant-", Namespace: s.run.Namespace}, Rules: rules}
	s.must(s.api.Create(s.t.Context(), role))
	s.must(s.api.Create(s.t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name, Namespace: role.Namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}))
}

// enterStrictMode installs the policies of strict mode, and those for Jobs and Services, for the namespace of the run.
func (s *harness) enterStrictMode() {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "config", "policies", "strict", "*s.yaml"))
	if err != nil || len(files) < 5 {
		s.t.Fatalf("found the policies %v: %v", files, err)
	}
	const created = "../config/policies/"
	images := strings.NewReplacer("'IMAGE'", "'example.org/loadgen:v1'", "\"''\"", "\"'example.org/etcd:*'\"")
	for _, file := range append(files, created+"jobs.yaml", created+"services.yaml") {
		text, err := os.ReadFile(file)
		s.must(err)
		for _, document := range strings.Split(images.Replace(string(text)), "\n---\n") {
			o := &unstructured.Unstructured{}
			s.must(yaml.Unmarshal([]byte(document), &o.Object))
			if o.GetKind() == "ValidatingAdmissionPolicyBinding" {
				s.must(unstructured.SetNestedField(o.Object, s.run.Namespace, "spec", "matchResources", "namespaceSelector", "matchLabels", corev1.LabelMetadataName))
			}
			s.must(s.api.Create(s.t.Context(), o))
		}
	}
}

// In strict mode, the API server accepts the Jobs of a run only if the service account etcdbench-client may get each Secret
// that they name. It finds nothing else to refuse in them, and nothing in the Service of members.
func TestStrictModeAcceptsTheOperatorsJobs(t *testing.T) {
	s := newHarness(t)
	role := &rbacv1.ClusterRole{}
	text, err := os.ReadFile(filepath.Join("..", "config", "rbac", "role.yaml"))
	s.must(errors.Join(err, yaml.Unmarshal(text, role)))
	s.grant(asOperator, role.Rules)
	s.enterStrictMode()
	config := rest.CopyConfig(cluster.config)
	config.Impersonate.UserName = asOperator
	operator, err := client.New(config, client.Options{Scheme: cluster.scheme})
	s.must(err)
	with := func(name string) func(*v1alpha1.EtcdBenchmark) {
		return func(run *v1alpha1.EtcdBenchmark) {
			alone(name + ".example.org:1")(run)
			run.Spec.Target.TLS, run.Spec.Target.Auth = &v1alpha1.TargetTLS{SecretName: "certificates"}, &v1alpha1.TargetAuth{SecretName: name}
			run.Spec.Pod = &v1alpha1.PodSettings{}
			for field, setting := range podSettings {
				s.must(yaml.Unmarshal([]byte("{"+field+": "+setting.hostile+"}"), run.Spec.Pod))
			}
		}
	}
	tryJobs := func(name string) error {
		run := newRun(s.run.Namespace, "try-"+name, with(name))
		// The API server sets defaults and the UID.
		s.must(s.api.Create(t.Context(), run, client.DryRunAll))
		run.Status.Target = &v1alpha1.TargetStatus{Endpoints: run.Spec.Target.Endpoints}
		load, loadErr := resources.LoadJob(run, "example.org/loadgen:v1", 65532)
		cleanup, cleanupErr := resources.CleanupJob(run, "example.org/loadgen:v1", 0)
		s.must(errors.Join(loadErr, cleanupErr))
		all := []client.Object{load, cleanup}
		measuring := newRun(s.run.Namespace, "disk-"+name, withDisk(&v1alpha1.MemberStorage{VolumeClaim: &v1alpha1.MemberVolumeClaim{Size: resource.MustParse("1Gi")}}))
		s.must(s.api.Create(s.t.Context(), measuring, client.DryRunAll))
		measuring.Status.Target = &v1alpha1.TargetStatus{}
		disk, err := resources.LoadJob(measuring, "example.org/loadgen:v1", 65532)
		s.must(err)
		all = append(all, disk)
		for store, settings := range map[spec.Datastore]map[string]v1alpha1.MemberSetting{
			spec.Etcd: {"snapshot-count": "5"}, spec.ZooKeeper: {"snapCount": "5", "jvmFlags": "-Xms1g -Xmx1g"}, spec.Consul: {"performance.raft_multiplier": "1"},
		} {
			withMembers(claim("any"))(run)
			run.Spec.Target.Datastore, run.Spec.Target.Ephemeral.Settings = store, settings
			members := resources.MembersJob(run, "example.org/loadgen:v1", 65532)
			members.UID = run.UID
			all = append(all, members, resources.MembersService(run, members))
		}
		var errs []error
		for _, o := range all {
			errs = append(errs, operator.Create(t.Context(), o, client.DryRunAll))
		}
		return errors.Join(errs...)
	}
	const refused = "the service account etcdbench-client may not get Secret "
	other := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "other", Namespace: s.run.Namespace}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}}}
	s.await("all policies", func() bool {
		return contains(errText(tryJobs("private")), refused) && apierrors.IsForbidden(operator.Create(t.Context(), other.DeepCopy(), client.DryRunAll))
	})
	s.grant("system:serviceaccount:"+s.run.Namespace+":etcdbench-client", []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"certificates", "user", "registry"}, Verbs: []string{"get"}},
	})
	s.await("Jobs to be accepted", func() bool { return tryJobs("user") == nil })
	if got := errText(tryJobs("private")); strings.Count(got, refused+"private ") != 2 || strings.Contains(got, "-members") {
		t.Errorf("wanted the Jobs of client pods to be refused, found %s", got)
	}
	s.restart(func(r *EtcdBenchmarkReconciler) { r.Client = jobsAs{r.Client, operator} })
	s.join("user", with("user")).loadJob()
	private := s.join("private", with("private"))
	private.awaitFinished(v1alpha1.ReasonPodsForbidden)
	if c := meta.FindStatusCondition(private.status().Conditions, v1alpha1.ConditionFinished); !contains(c.Message, refused+"private ") {
		t.Errorf("wanted the Secret in the message, found %s", c.Message)
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
