package report

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

func redacted(t *testing.T, d *Document, secrets ...string) *Document {
	t.Helper()
	out, err := Redact(d)
	if err != nil {
		t.Fatal(err)
	}
	data, err := out.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range secrets {
		if strings.Contains(string(data), secret) {
			at := strings.Index(string(data), secret)
			t.Errorf("found %q: …%s…", secret, data[max(0, at-80):min(len(data), at+80)])
		}
	}
	return out
}

// A name can be the word that replaces another one.
func TestRedactReplacesOnce(t *testing.T) {
	run := measured(t, "writes", time.Millisecond).Object
	run.Status.Target.Nodes = []string{"node-2", "node-1"}
	run.Status.Pods[0].Node = ""
	run.Status.Pods[0].Message = "node-2 beside node-1 node-2"
	got := redacted(t, OfRun(run, nil)).Runs[0].Object.Status
	if want := "node-1 beside node-2 node-1"; got.Pods[0].Message != want {
		t.Errorf("found %q, wanted %q", got.Pods[0].Message, want)
	}
	if got.Target.Nodes[0] != "node-1" || got.Target.Nodes[1] != "node-2" {
		t.Errorf("found the nodes %q", got.Target.Nodes)
	}
}

func TestRedactFindsNamesEverywhere(t *testing.T) {
	run := measured(t, "writes", time.Millisecond)
	b := run.Object
	b.GenerateName = "payments-"
	b.Labels = map[string]string{v1alpha1.LabelSuite: "acme", v1alpha1.LabelCell: "old/put/c10", "team": "billing"}
	b.Status.ReportName = "writes-report"
	b.Status.Queue = &v1alpha1.QueueStatus{Behind: "sandbox/other-run"}
	b.Status.Conditions[0].Message = "It waited for sandbox/other-run, in namespace sandbox."
	const message = "dial tcp 10.1.2.3:2379 by proxy.acme.example:99, [fd00::7]:80: refused"
	b.Status.Summary.Operations[0].Errors = []v1alpha1.ErrorCount{{Code: "Unavailable", Count: 1, Example: message}}
	b.Status.Summary.Members = []v1alpha1.MemberSummary{{ID: "a", Kubelet: &v1alpha1.KubeletFigures{Unknown: "the kubelet of 10.7.7.7 refused the operator"}, Log: []v1alpha1.MemberLog{
		{Kind: spec.LogElection, Count: 7, Lines: []v1alpha1.LogLine{{AtMicroseconds: 5, Text: "leader-of-acme was elected"}}},
	}}}
	b.Status.Summary.Warnings = []string{"1 request failed (" + message + ")"}
	b.Spec.Pod = &v1alpha1.PodSettings{
		Labels:           v1alpha1.PodMetadata{"cost-center": "cc-4711"},
		Annotations:      v1alpha1.PodMetadata{"example.org/owner": "Jo of billing-ops"},
		ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull-key"}},
		NodeSelector:     map[string]string{"pool": "gold-pool", "kubernetes.io/arch": "amd64"},
		Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "rack", Operator: corev1.NodeSelectorOpIn, Values: []string{"rack-of-acme"}}}}},
		}}},
	}
	d := redacted(t, OfRun(b, run.Report), "payments", "acme", "billing", "writes-report", "sandbox", "other-run", "pull-key", "gold-pool", "rack-of", "cc-4711", "billing-ops",
		"10.1.2.3", "proxy", "fd00::7", "10.7.7.7", "was elected")
	if log := d.Runs[0].Object.Status.Summary.Members[0].Log; len(log) != 1 || log[0].Count != 7 || log[0].Lines[0].AtMicroseconds != 5 {
		t.Errorf("found the log %+v, wanted it without texts", log)
	}
	if got := d.Runs[0].Object; got.Labels[v1alpha1.LabelCell] != "old/put/c10" || got.Spec.Pod.NodeSelector["kubernetes.io/arch"] != "amd64" {
		t.Errorf("found %v and %v", got.Labels, got.Spec.Pod.NodeSelector)
	}
	s := nightly(3)
	s.UID, s.OwnerReferences = "77aa-uid", []metav1.OwnerReference{{Name: "platform-team"}}
	s.Spec.SuiteTemplate.Spec.Template = v1alpha1.SuiteTemplate{Pod: &v1alpha1.PodSettings{Labels: v1alpha1.PodMetadata{"team": "storage-ops"}}}
	s.Spec.SuiteTemplate.Spec.Targets = []v1alpha1.SuiteTarget{{Name: "old"}}
	s.Spec.SuiteTemplate.Spec.Targets[0].Target.Service = &v1alpha1.ServiceTarget{Name: "vault-etcd"}
	redacted(t, OfSchedule(s), "77aa-uid", "platform-team", "nightly", "vault-etcd", "storage-ops")
}

// Words that are no names, and the names of what a suite combines, stay.
func TestRedactKeepsTexts(t *testing.T) {
	d := compared(t, 3, 1)
	d.Suite.Spec.Targets[0].Name = "etcd-36"
	d.Suite.Spec.Compare.Baseline = v1alpha1.SuiteBaseline{Entry: "etcd-36"}
	const message = "etcd answered slowly in etcd-36/put/c10: see etcd/versions."
	d.Suite.Status.Conditions[0].Message = message
	got := redacted(t, d).Suite
	if want := "etcd answered slowly in etcd-36/put/c10: see namespace-1/suite-1."; got.Status.Conditions[0].Message != want {
		t.Errorf("found %q, wanted %q", got.Status.Conditions[0].Message, want)
	}
	if got.Spec.Targets[0].Name != "etcd-36" || got.Namespace != "namespace-1" {
		t.Errorf("found the target %q in %q", got.Spec.Targets[0].Name, got.Namespace)
	}
}
