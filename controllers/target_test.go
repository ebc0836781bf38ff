package controllers

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

func service(name string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Ports: []corev1.ServicePort{
			{Name: "client", Port: 2379, TargetPort: intstr.FromInt32(12379)}, {Name: "peer", Port: 2380},
		}},
	}
}

func slice(service string, addresses ...string) *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: service + "-1", Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: new("client"), Port: new(int32(12379))}, {Name: new("peer"), Port: new(int32(2380))}},
	}
	for _, a := range addresses {
		s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{Addresses: []string{a}})
	}
	return s
}

func (s *harness) makeService(service *corev1.Service, slice *discoveryv1.EndpointSlice) {
	s.t.Helper()
	service.Namespace, slice.Namespace = s.run.Namespace, s.run.Namespace
	s.must(s.api.Create(s.t.Context(), slice))
	s.must(s.api.Create(s.t.Context(), service))
}

// makeMember creates an etcd pod with the names of a StatefulSet.
func (s *harness) makeMember(name, ip string, ready corev1.ConditionStatus, changes ...func(*corev1.Pod)) {
	s.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.run.Namespace, Name: name, Labels: map[string]string{"app": "etcd"}},
		Spec:       corev1.PodSpec{Hostname: name, Subdomain: "peers", Containers: []corev1.Container{{Name: "etcd", Image: "etcd"}}},
	}
	for _, c := range changes {
		c(pod)
	}
	s.must(s.api.Create(s.t.Context(), pod))
	before := pod.DeepCopy()
	pod.Status.PodIP, pod.Status.PodIPs = ip, []corev1.PodIP{{IP: ip}}
	pod.Status.HostIP, pod.Status.HostIPs = "127.0.0.1", []corev1.HostIP{{IP: "127.0.0.1"}}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
	s.must(s.api.Status().Patch(s.t.Context(), pod, client.MergeFrom(before)))
}

func (s *harness) awaitEndpoints(want ...string) {
	s.t.Helper()
	s.await("addresses", func() bool { return s.status().Target != nil })
	if diff := cmp.Diff(want, s.status().Target.Endpoints); diff != "" {
		s.t.Errorf("endpoints (-wanted +found):\n%s", diff)
	}
}

func targets(target v1alpha1.Target) func(*v1alpha1.EtcdBenchmark) {
	return func(run *v1alpha1.EtcdBenchmark) { run.Spec.Target = target }
}

func byService(port intstr.IntOrString) v1alpha1.Target {
	return v1alpha1.Target{Service: &v1alpha1.ServiceTarget{Name: "etcd", Port: port}}
}

func byPods() v1alpha1.Target {
	return v1alpha1.Target{Pods: &v1alpha1.PodsTarget{Selector: metav1.LabelSelector{MatchLabels: map[string]string{"app": "etcd"}}}}
}

// TestServiceTarget: each ready member behind a Service is addressed directly, on its own port.
func TestServiceTarget(t *testing.T) {
	for name, port := range map[string]intstr.IntOrString{"by name": intstr.FromString("client"), "by number": intstr.FromInt32(2379)} {
		t.Run(name, func(t *testing.T) {
			s := newHarness(t, targets(byService(port)))
			s.awaitSeen()
			members := slice("etcd", "198.18.9.2", "198.18.9.1", "198.18.9.3")
			members.Endpoints[2].Conditions = discoveryv1.EndpointConditions{Ready: new(false), Serving: new(true), Terminating: new(true)}
			for i, node := range []string{"node-b", "node-a", "node-c"} {
				members.Endpoints[i].NodeName = &node
			}
			s.makeService(service("etcd"), members)
			s.awaitEndpoints("198.18.9.1:12379", "198.18.9.2:12379")
			if diff := cmp.Diff([]string{"node-a", "node-b"}, s.status().Target.Nodes); diff != "" {
				t.Errorf("nodes (-wanted +found):\n%s", diff)
			}
		})
	}
}

// A run that only observes looks at members that are not ready, and does not wait for them.
func TestTargetOfARunThatOnlyObserves(t *testing.T) {
	observes := func(run *v1alpha1.EtcdBenchmark) {
		run.Spec.Workload = spec.Workload{Type: spec.WorkloadObserve}
		run.Spec.Load = spec.Load{Transport: spec.TransportClient, Pods: 1, Connections: 1, Clients: 1, DurationSeconds: new(int32(30)), RequestTimeoutSeconds: 10}
	}
	away := func(s *harness) {
		s.makeMember("etcd-1", "198.18.9.2", corev1.ConditionFalse)
		s.makeMember("etcd-0", "198.18.9.1", corev1.ConditionTrue)
	}
	t.Run("pods", func(t *testing.T) {
		s := newHarness(t, targets(byPods()), observes)
		s.awaitSeen()
		away(s)
		s.awaitEndpoints("198.18.9.1:2379", "198.18.9.2:2379")
	})
	t.Run("service", func(t *testing.T) {
		s := newHarness(t, targets(byService(intstr.FromString("client"))), observes)
		s.awaitSeen()
		members := slice("etcd", "198.18.9.2", "198.18.9.1", "198.18.9.3")
		members.Endpoints[0].Conditions = discoveryv1.EndpointConditions{Ready: new(false), Serving: new(false)}
		members.Endpoints[2].Conditions = discoveryv1.EndpointConditions{Ready: new(false), Serving: new(true), Terminating: new(true)}
		s.makeService(service("etcd"), members)
		s.awaitEndpoints("198.18.9.1:12379", "198.18.9.2:12379")
	})
}

// withoutPorts are the Service of an EtcdCluster of etcd-operator and its EndpointSlice.
func withoutPorts() (*corev1.Service, *discoveryv1.EndpointSlice) {
	of, members := service("etcd"), slice("etcd", "198.18.9.2", "198.18.9.1")
	of.Spec.Ports, members.Ports = nil, nil
	return of, members
}

// TestServiceWithoutPorts: a number is the members' port, and without one they listen where etcd does.
func TestServiceWithoutPorts(t *testing.T) {
	for want, port := range map[string]intstr.IntOrString{"2379": intstr.FromString("client"), "12379": intstr.FromInt32(12379)} {
		t.Run(want, func(t *testing.T) {
			s := newHarness(t, targets(byService(port)))
			s.awaitSeen()
			s.makeService(withoutPorts())
			s.awaitEndpoints("198.18.9.1:"+want, "198.18.9.2:"+want)
		})
	}
}

// TestATargetThatStarts: a run waits for members that exist and are not ready, and for those that their StatefulSet has
// yet to create. If they do not become ready in time, it goes on without them.
func TestATargetThatStarts(t *testing.T) {
	waits := func(s *harness) {
		t.Helper()
		s.await("the wait for members", func() bool { return strings.Contains(s.message(), "unreachableMembers") })
		if s.status().Target != nil {
			t.Errorf("the run does not wait: it has the addresses %v", s.status().Target.Endpoints)
		}
	}
	t.Run("behind a Service that publishes all", func(t *testing.T) {
		s := newHarness(t, targets(byService(intstr.FromString("client"))))
		members := slice("etcd", "198.18.9.1", "198.18.9.2")
		members.Endpoints[1].Conditions = discoveryv1.EndpointConditions{Ready: new(true), Serving: new(false)}
		s.makeMember("etcd-1", "198.18.9.2", corev1.ConditionFalse)
		of := service("etcd")
		of.Spec.Selector = map[string]string{"app": "etcd"}
		s.makeService(of, members)
		waits(s)
		s.later(301 * time.Second)
		s.awaitEndpoints("198.18.9.1:12379")
	})
	t.Run("of which no member is ready", func(t *testing.T) {
		s := newHarness(t, targets(byService(intstr.FromString("client"))))
		members := slice("etcd", "198.18.9.1")
		members.Endpoints[0].Conditions = discoveryv1.EndpointConditions{Ready: new(true), Serving: new(false)}
		s.makeService(service("etcd"), members)
		s.awaitEndpoints("198.18.9.1:12379")
	})
	t.Run("in a StatefulSet", func(t *testing.T) {
		s := newHarness(t, targets(byPods()))
		of := s.makeStatefulSet("etcd", 2)
		s.makeMember("etcd-0", "198.18.9.1", corev1.ConditionTrue, of)
		waits(s)
		s.makeMember("etcd-1", "198.18.9.2", corev1.ConditionTrue, of)
		s.awaitEndpoints("198.18.9.1:2379", "198.18.9.2:2379")
	})
}

// makeStatefulSet returns a change that makes a pod one of a new StatefulSet.
func (s *harness) makeStatefulSet(name string, replicas int32) func(*corev1.Pod) {
	s.t.Helper()
	set := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.run.Namespace, Name: name},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, ServiceName: "peers", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "etcd"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "etcd"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "etcd", Image: "etcd"}}},
			},
		},
	}
	s.must(s.api.Create(s.t.Context(), set))
	owner := metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))
	return func(pod *corev1.Pod) { pod.OwnerReferences = []metav1.OwnerReference{*owner} }
}

// TestServiceTargetByTLS: the addresses are the names of the members' pods, because a certificate covers names.
func TestServiceTargetByTLS(t *testing.T) {
	target := byService(intstr.FromString("client"))
	target.TLS = &v1alpha1.TargetTLS{SecretName: "certs"}
	s := newHarness(t, targets(target))
	s.awaitSeen()
	s.makeMember("etcd-0", "198.18.9.1", corev1.ConditionTrue)
	members := slice("etcd", "198.18.9.1", "198.18.9.2")
	members.Endpoints[0].TargetRef = &corev1.ObjectReference{Kind: "Pod", Name: "etcd-0"}
	s.makeService(service("etcd"), members)
	s.awaitEndpoints("198.18.9.2:12379", "etcd-0.peers."+s.run.Namespace+".svc:12379")
}

func TestPodsTarget(t *testing.T) {
	withTLS, withName := byPods(), byPods()
	withTLS.TLS = &v1alpha1.TargetTLS{SecretName: "certs"}
	withName.TLS = &v1alpha1.TargetTLS{SecretName: "certs", ServerName: "etcd.example.org"}
	tests := map[string]struct {
		target v1alpha1.Target
		want   string
	}{
		"plain":                  {byPods(), "198.18.9.1:2379"},
		"by TLS":                 {withTLS, "etcd-0.peers.NAMESPACE.svc:2379"},
		"by TLS of a known name": {withName, "198.18.9.1:2379"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newHarness(t, targets(tc.target))
			s.awaitSeen()
			s.makeMember("etcd-1", "198.18.9.2", corev1.ConditionFalse)
			s.makeMember("etcd-0", "198.18.9.1", corev1.ConditionTrue)
			s.later(301 * time.Second)
			s.awaitEndpoints(strings.ReplaceAll(tc.want, "NAMESPACE", s.run.Namespace))
		})
	}
}

// TestMemberIndex: the run waits for an address with that index as it does for the target, and then loads it.
func TestMemberIndex(t *testing.T) {
	target := byPods()
	target.MemberIndex = new(int32(1))
	s := newHarness(t, targets(target))
	s.awaitSeen()
	s.makeMember("etcd-0", "198.18.9.1", corev1.ConditionTrue)
	s.await("the run to report the missing member", func() bool { return contains(s.message(), "spec.target.memberIndex is 1") })
	if s.status().Target != nil {
		t.Errorf("the run does not wait: it has the addresses %v", s.status().Target.Endpoints)
	}
	s.makeMember("etcd-1", "198.18.9.2", corev1.ConditionTrue)
	s.awaitEndpoints("198.18.9.1:2379", "198.18.9.2:2379")
}

func TestTargetNotFound(t *testing.T) {
	second := byPods()
	second.MemberIndex = new(int32(1))
	nothing, empty := func(*harness) {}, func(s *harness) { s.makeService(service("etcd"), slice("etcd")) }
	tests := map[string]struct {
		target v1alpha1.Target
		make   func(*harness)
		want   string
	}{
		"no service":  {byService(intstr.FromString("client")), nothing, "Service etcd does not exist"},
		"no port":     {byService(intstr.FromString("grpc")), empty, "has no port grpc, only client (2379), peer (2380)"},
		"no ports":    {byService(intstr.FromString("grpc")), func(s *harness) { s.makeService(withoutPorts()) }, "has no ports, so the port grpc is not known"},
		"no endpoint": {byService(intstr.FromString("client")), empty, "has no ready endpoint"},
		"no pod":      {byPods(), nothing, "No ready pod"},
		"no member":   {second, func(s *harness) { s.makeMember("etcd-0", "198.18.9.1", corev1.ConditionTrue) }, "only the addresses 198.18.9.1:2379"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newHarness(t, targets(tc.target))
			s.awaitSeen()
			tc.make(s)
			s.await("the run to report the missing object", func() bool { return contains(s.message(), tc.want) })
			s.later(31 * time.Second)
			s.awaitFinished(v1alpha1.ReasonTargetNotFound)
			s.checkMessage(tc.want)
			if s.hasFinalizer() || len(s.jobs(v1alpha1.ComponentLoad)) > 0 {
				t.Error("wanted nothing to be made for a target that is not there")
			}
		})
	}
}
