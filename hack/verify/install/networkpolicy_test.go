package install

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// samplePolicy submits the sample to the API server, and returns the stored object.
func samplePolicy(t *testing.T) *networkingv1.NetworkPolicy {
	t.Helper()
	sample := only(t, readObjects(t, "config/samples/networkpolicy.yaml"), "NetworkPolicy", "", "etcd-benchmark-clients")
	sample.SetNamespace(newNamespace(t))
	create(t, client.WithFieldValidation(clientAs(t, ""), "Strict"), &sample)
	policy := &networkingv1.NetworkPolicy{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(sample.Object, policy); err != nil {
		t.Fatal(err)
	}
	return policy
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
	policy := samplePolicy(t)
	if !selects(t, &policy.Spec.PodSelector, labels.Set{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy}) || selects(t, &policy.Spec.PodSelector, etcdLabels(t)) {
		t.Errorf("wanted the policy to select only client pods, found %v", policy.Spec.PodSelector)
	}
	if !slices.Equal(policy.Spec.PolicyTypes, []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}) {
		t.Errorf("wanted a policy for ingress and egress, found %v", policy.Spec.PolicyTypes)
	}
	operator, dns := peer{systemName, operatorLabels(t)}, peer{"kube-system", labels.Set{"k8s-app": "kube-dns"}}
	etcd, foreign := peer{pod: etcdLabels(t)}, peer{pod: labels.Set{"app": "foreign"}}
	run := peer{pod: labels.Set{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy}}
	tests := map[string]struct {
		ingress  bool
		peer     peer
		protocol corev1.Protocol
		port     int32
		want     bool
	}{
		"the operator reads metrics":   {true, operator, corev1.ProtocolTCP, plan.MetricsPort, true},
		"the operator, another port":   {true, operator, corev1.ProtocolTCP, 22, false},
		"a pod with its labels":        {true, peer{"", operatorLabels(t)}, corev1.ProtocolTCP, plan.MetricsPort, false},
		"its neighbour":                {true, peer{systemName, labels.Set{"app": "x"}}, corev1.ProtocolTCP, plan.MetricsPort, false},
		"a foreign pod reads metrics":  {true, foreign, corev1.ProtocolTCP, plan.MetricsPort, false},
		"to etcd":                      {false, etcd, corev1.ProtocolTCP, 2379, true},
		"to etcd as a peer":            {false, etcd, corev1.ProtocolTCP, 2380, false},
		"to an etcd of others":         {false, peer{"other", etcdLabels(t)}, corev1.ProtocolTCP, 2379, false},
		"to members of a run":          {false, run, corev1.ProtocolTCP, 2379, true},
		"between members of a run":     {false, run, corev1.ProtocolTCP, 2380, true},
		"to another client pod":        {false, run, corev1.ProtocolTCP, plan.MetricsPort, false},
		"a member's clients":           {true, run, corev1.ProtocolTCP, 2379, true},
		"a member's peers":             {true, run, corev1.ProtocolTCP, 2380, true},
		"a member's foreign client":    {true, foreign, corev1.ProtocolTCP, 2379, false},
		"a run's pod elsewhere":        {true, peer{"other", run.pod}, corev1.ProtocolTCP, 2379, false},
		"asks for names":               {false, dns, corev1.ProtocolUDP, 53, true},
		"asks for names by TCP":        {false, dns, corev1.ProtocolTCP, 53, true},
		"to something on the DNS node": {false, dns, corev1.ProtocolTCP, 443, false},
		"to the API server":            {false, peer{}, corev1.ProtocolTCP, 443, false},
		"to a foreign pod":             {false, foreign, corev1.ProtocolTCP, 2379, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := admits(t, policy, tc.ingress, tc.peer, tc.protocol, tc.port); got != tc.want {
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
