package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Target names one cluster of a store and how to reach it.
//
// +kubebuilder:validation:XValidation:rule="[has(self.endpoints), has(self.service), has(self.pods)].filter(x, x).size() == 1",message="exactly one of target.endpoints, target.service and target.pods must be set"
// +kubebuilder:validation:XValidation:rule="has(self.tls) || !has(self.endpoints) || !self.endpoints.exists(e, e.startsWith('https://'))",message="an https:// endpoint needs target.tls with the name of a Secret that holds ca.crt (and tls.crt and tls.key if the server asks for a client certificate)"
// +kubebuilder:validation:XValidation:rule="!has(self.tls) || !has(self.endpoints) || !self.endpoints.exists(e, e.startsWith('http://'))",message="an http:// endpoint cannot be used with target.tls: write https:// or remove target.tls"
type Target struct {
	// datastore is the store that the members serve. Default Etcd.
	//
	// +optional
	// +kubebuilder:default=Etcd
	Datastore spec.Datastore `json:"datastore,omitempty"`

	// endpoints are the client addresses of the members, as host:port, with
	// an optional http:// or https:// before it.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=262
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^(https?://)?([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?|[[][0-9A-Fa-f:.]+[]]):[0-9]{1,5}$') && int(self.substring(self.lastIndexOf(':') + 1)) >= 1 && int(self.substring(self.lastIndexOf(':') + 1)) <= 65535",message="wanted host:port with a port from 1 to 65535, and no more before it than http:// or https://"
	Endpoints []string `json:"endpoints,omitempty"`

	// service is a Service of the run's namespace that selects the members.
	//
	// +optional
	Service *ServiceTarget `json:"service,omitempty"`

	// pods selects the members' pods in the run's namespace.
	//
	// +optional
	Pods *PodsTarget `json:"pods,omitempty"`

	// members says which members receive the load: All (connections are
	// spread evenly), Leader (followed when it moves) or Followers. Default All.
	//
	// +optional
	// +kubebuilder:default=All
	Members spec.MemberSelection `json:"members,omitempty"`

	// sampleIntervalSeconds lies, in seconds, between two looks at the
	// members' own metrics within the measured window; its start and its end
	// are sampled in any case. One look costs a member about 10 ms of its
	// processor. Default 5.
	//
	// +optional
	// +kubebuilder:default=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	SampleIntervalSeconds int32 `json:"sampleIntervalSeconds,omitempty"`

	// concurrentRuns is Queue, which lets this run wait until no other run of
	// the operator goes on that shares an address with it, or turns out to load
	// the same cluster; or Allow, which starts it at once. Runs wait in the order
	// of their creation, and no timeout counts that time. Default Queue.
	//
	// +optional
	// +kubebuilder:default=Queue
	ConcurrentRuns ConcurrentRuns `json:"concurrentRuns,omitempty"`

	// tls is set where the members serve TLS. Absent: plain text.
	//
	// +optional
	TLS *TargetTLS `json:"tls,omitempty"`

	// auth is set where etcd's authentication is enabled.
	//
	// +optional
	Auth *TargetAuth `json:"auth,omitempty"`

	// keyPrefix is the prefix under which every key of the run lies. It must
	// be printable, end in a slash, have at most 64 slashes, hold no key before
	// the run and lie within no prefix that another run has then; the keys that
	// the run wrote under it are deleted after the run. Default
	// etcdbench/<first 8 characters of the run's UID>/.
	//
	// +optional
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^([!-.0-~]*/){1,64}$`
	KeyPrefix string `json:"keyPrefix,omitempty"`
}

// ServiceTarget names a Service in front of the members.
type ServiceTarget struct {
	// name of the Service, in the run's namespace.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// port of the Service that carries etcd's client traffic, by name or
	// number. Default "client".
	//
	// +optional
	// +kubebuilder:default="client"
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1 && self <= 65535 : self.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')",message="target.service.port must be the name of one of the Service's ports or a number from 1 to 65535"
	Port intstr.IntOrString `json:"port,omitzero"`
}

// PodsTarget selects the members' pods.
type PodsTarget struct {
	// selector matches the labels of the members' pods.
	//
	// +required
	// +kubebuilder:validation:XValidation:rule="(has(self.matchLabels) && self.matchLabels.size() > 0) || (has(self.matchExpressions) && self.matchExpressions.size() > 0)",message="target.pods.selector must not be empty: an empty selector would match every pod of the namespace"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn'] ? has(e.values) && e.values.size() > 0 : e.operator in ['Exists', 'DoesNotExist'] && (!has(e.values) || e.values.size() == 0))",message="each of target.pods.selector.matchExpressions needs the operator In or NotIn with values, or Exists or DoesNotExist without"
	Selector metav1.LabelSelector `json:"selector"`

	// port on which the members serve clients. Default 2379.
	//
	// +optional
	// +kubebuilder:default=2379
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`
}

// TargetTLS names the Secret with the certificates for the target.
type TargetTLS struct {
	// secretName is a Secret of the run's namespace with the key ca.crt, and
	// with tls.crt and tls.key where the members ask for a client
	// certificate. Whoever creates the run must be allowed to get it.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`
	SecretName string `json:"secretName"`

	// serverName is the name that the members' certificates must cover.
	// Default: the host of each address.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ServerName string `json:"serverName,omitempty"`
}

// TargetAuth names the Secret with the etcd user.
type TargetAuth struct {
	// secretName is a Secret of type kubernetes.io/basic-auth in the run's
	// namespace, with the keys username and password. Whoever creates the run
	// must be allowed to get it.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`
	SecretName string `json:"secretName"`
}
