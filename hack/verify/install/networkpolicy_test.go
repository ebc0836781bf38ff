package install

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// samplePolicies submits the sample to the API server, and returns the stored objects.
func samplePolicies(t *testing.T) (all []*networkingv1.NetworkPolicy) {
	t.Helper()
	namespace := newNamespace(t)
	for _, sample := range readObjects(t, "config/samples/networkpolicy.yaml") {
		sample.SetNamespace(namespace)
		create(t, client.WithFieldValidation(clientAs(t, ""), "Strict"), &sample)
		all = append(all, typed[networkingv1.NetworkPolicy](t, sample))
	}
	return all
}

// policyFor returns the one policy that selects a pod, which must be for ingress and egress.
func policyFor(t *testing.T, policies []*networkingv1.NetworkPolicy, pod labels.Set) *networkingv1.NetworkPolicy {
	t.Helper()
	policies = slices.DeleteFunc(slices.Clone(policies), func(p *networkingv1.NetworkPolicy) bool { return !selects(t, &p.Spec.PodSelector, pod) })
	if len(policies) != 1 || !slices.Equal(policies[0].Spec.PolicyTypes, []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}) {
		t.Fatalf("wanted one policy, for ingress and egress of pods with the labels %v, found %v", pod, policies)
	}
	return policies[0]
}

// peer is a communication partner of a pod of the namespace.
type peer struct {
	// namespace is empty for the pod's own.
	namespace string
	// pod has the labels of a pod; nil means that the peer is not a pod.
	pod labels.Set
}

// TestTheSampleNetworkPolicyAdmitsWhatRunsNeed also checks that it admits nothing else: its labels and ports are those
// of the operator, of client pods, and of the demo's etcd.
func TestTheSampleNetworkPolicyAdmitsWhatRunsNeed(t *testing.T) {
	policies := samplePolicies(t)
	if slices.ContainsFunc(policies, func(p *networkingv1.NetworkPolicy) bool { return selects(t, &p.Spec.PodSelector, etcdLabels(t)) }) {
		t.Error("a policy selects pods of an etcd, wanted only those of runs")
	}
	operator, dns := peer{systemName, operatorLabels(t)}, peer{"kube-system", labels.Set{"k8s-app": "kube-dns"}}
	etcd, foreign := peer{pod: etcdLabels(t)}, peer{pod: labels.Set{"app": "foreign"}}
	podOf := func(component string) peer {
		return peer{pod: labels.Set{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy, v1alpha1.LabelComponent: component}}
	}
	run, cleanup, member := podOf(v1alpha1.ComponentLoad), podOf(v1alpha1.ComponentCleanup), podOf(v1alpha1.ComponentMember)
	tests := map[string]struct {
		of       peer
		ingress  bool
		peer     peer
		protocol corev1.Protocol
		port     int32
		want     bool
	}{
		"the operator reads metrics":    {run, true, operator, corev1.ProtocolTCP, plan.MetricsPort, true},
		"the operator, another port":    {run, true, operator, corev1.ProtocolTCP, 22, false},
		"a pod with its labels":         {run, true, peer{"", operatorLabels(t)}, corev1.ProtocolTCP, plan.MetricsPort, false},
		"its neighbour":                 {run, true, peer{systemName, labels.Set{"app": "x"}}, corev1.ProtocolTCP, plan.MetricsPort, false},
		"a foreign pod reads metrics":   {run, true, foreign, corev1.ProtocolTCP, plan.MetricsPort, false},
		"to etcd":                       {run, false, etcd, corev1.ProtocolTCP, 2379, true},
		"to etcd, to delete keys":       {cleanup, false, etcd, corev1.ProtocolTCP, 2379, true},
		"to etcd as a peer":             {run, false, etcd, corev1.ProtocolTCP, 2380, false},
		"to an etcd of others":          {run, false, peer{"other", etcdLabels(t)}, corev1.ProtocolTCP, 2379, false},
		"to members of a run":           {run, false, member, corev1.ProtocolTCP, 2379, true},
		"to what measures members":      {run, false, member, corev1.ProtocolTCP, plan.SamplerPort, true},
		"to members as a peer":          {run, false, member, corev1.ProtocolTCP, 2380, false},
		"to another client pod":         {run, false, run, corev1.ProtocolTCP, 2379, false},
		"between members of a run":      {member, false, member, corev1.ProtocolTCP, 2380, true},
		"a member to an etcd":           {member, false, etcd, corev1.ProtocolTCP, 2380, false},
		"a member asks for names":       {member, false, dns, corev1.ProtocolUDP, 53, true},
		"a member's clients":            {member, true, run, corev1.ProtocolTCP, 2379, true},
		"the clients' look at a member": {member, true, run, corev1.ProtocolTCP, plan.SamplerPort, true},
		"a client as a member's peer":   {member, true, run, corev1.ProtocolTCP, 2380, false},
		"a member's peers":              {member, true, member, corev1.ProtocolTCP, 2380, true},
		"a member's foreign client":     {member, true, foreign, corev1.ProtocolTCP, 2379, false},
		"a run's pod elsewhere":         {member, true, peer{"other", run.pod}, corev1.ProtocolTCP, 2379, false},
		"asks for names":                {run, false, dns, corev1.ProtocolUDP, 53, true},
		"asks for names by TCP":         {run, false, dns, corev1.ProtocolTCP, 53, true},
		"to something on the DNS node":  {run, false, dns, corev1.ProtocolTCP, 443, false},
		"to the API server":             {run, false, peer{}, corev1.ProtocolTCP, 443, false},
		"to a foreign pod":              {run, false, foreign, corev1.ProtocolTCP, 2379, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := admits(t, policyFor(t, policies, tc.of.pod), tc.ingress, tc.peer, tc.protocol, tc.port); got != tc.want {
				t.Errorf("wanted admitted: %v, found %v", tc.want, got)
			}
		})
	}
}

func admits(t *testing.T, policy *networkingv1.NetworkPolicy, ingress bool, p peer, protocol corev1.Protocol, port int32) bool {
	t.Helper()
	if ingress {
		return slices.ContainsFunc(policy.Spec.Ingress, func(r networkingv1.NetworkPolicyIngressRule) bool {
			return matches(t, r.From, r.Ports, p, protocol, port)
		})
	}
	return slices.ContainsFunc(policy.Spec.Egress, func(r networkingv1.NetworkPolicyEgressRule) bool {
		return matches(t, r.To, r.Ports, p, protocol, port)
	})
}

// matches requires a rule to name peers and ports: without them it would match any.
func matches(t *testing.T, peers []networkingv1.NetworkPolicyPeer, ports []networkingv1.NetworkPolicyPort, p peer, protocol corev1.Protocol, port int32) bool {
	t.Helper()
	if len(peers) == 0 || len(ports) == 0 {
		t.Error("a rule admits all peers, or all ports")
	}
	return slices.ContainsFunc(ports, func(of networkingv1.NetworkPolicyPort) bool {
		return *of.Protocol == protocol && of.Port.IntVal == port
	}) &&
		slices.ContainsFunc(peers, func(of networkingv1.NetworkPolicyPeer) bool {
			own := of.NamespaceSelector == nil && p.namespace == ""
			there := of.NamespaceSelector != nil && p.namespace != "" && selects(t, of.NamespaceSelector, labels.Set{corev1.LabelMetadataName: p.namespace})
			return (own || there) && p.pod != nil && selects(t, of.PodSelector, p.pod)
		})
}

func selects(t *testing.T, selector *metav1.LabelSelector, of labels.Set) bool {
	t.Helper()
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	return s.Matches(of)
}

// operatorLabels are the labels of the pods that the chart installs.
func operatorLabels(t *testing.T) labels.Set {
	t.Helper()
	return podLabels(t, only(t, renderChart(t), "Deployment", systemName, operatorName))
}

func etcdLabels(t *testing.T) labels.Set {
	t.Helper()
	return podLabels(t, only(t, readObjects(t, "hack/manifests/etcd.yaml"), "StatefulSet", "", "etcd"))
}

func podLabels(t *testing.T, of object) labels.Set {
	t.Helper()
	found, _, err := unstructured.NestedStringMap(of.Object, "spec", "template", "metadata", "labels")
	if err != nil || len(found) == 0 {
		t.Fatalf("%s has pods without labels: %v", of.GetName(), err)
	}
	return found
}
