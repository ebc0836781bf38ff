package v1alpha1

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

// Target names one cluster of a store and how to reach it.
//
// +kubebuilder:validation:XValidation:rule="[has(self.endpoints), has(self.service), has(self.pods), has(self.ephemeral), has(self.disk)].filter(x, x).size() == 1",messageExpression="'exactly one of endpoints, service, pods, ephemeral and disk must be set, found ' + (has(self.endpoints) || has(self.service) || has(self.pods) || has(self.ephemeral) || has(self.disk) ? 'more than one' : 'none')"
// +kubebuilder:validation:XValidation:rule="has(self.disk) == (self.datastore == 'Disk')",message="goes with datastore Disk: set both, or neither",fieldPath=".disk"
// +kubebuilder:validation:XValidation:rule="!has(self.ephemeral) || self.datastore in ['Etcd', 'ZooKeeper', 'Consul'] && !has(self.tls) && !has(self.auth) && self.unreachableMembers == 'Fail'",message="starts members of etcd, ZooKeeper or Consul for the run, without TLS and users: remove target.tls, auth and unreachableMembers, and set datastore to one of these stores",fieldPath=".ephemeral"
// +kubebuilder:validation:XValidation:rule="has(self.tls) || !has(self.endpoints) || !self.endpoints.exists(e, e.startsWith('https://'))",message="must be set for https:// endpoints: set secretName to a Secret with ca.crt (and tls.crt and tls.key if the server asks for a client certificate)",fieldPath=".tls"
// +kubebuilder:validation:XValidation:rule="!has(self.tls) || !has(self.endpoints) || !self.endpoints.exists(e, e.startsWith('http://'))",message="http:// endpoints cannot be combined with target.tls: write https:// or remove target.tls",fieldPath=".endpoints"
// +kubebuilder:validation:XValidation:rule="!has(self.memberIndex) || self.members == 'All'",message="cannot be combined with members Leader or Followers: remove one of them",fieldPath=".memberIndex"
// +kubebuilder:validation:XValidation:rule="!has(self.memberIndex) || self.memberIndex < (has(self.endpoints) ? self.endpoints.size() : has(self.ephemeral) ? self.ephemeral.replicas : 64)",messageExpression="'must be less than the number of members (%d), found %d: the first has the index 0'.format([has(self.endpoints) ? self.endpoints.size() : self.ephemeral.replicas, self.memberIndex])",fieldPath=".memberIndex"
type Target struct {
	// datastore is the store that the members serve. Default Etcd.
	//
	// +optional
	// +kubebuilder:default=Etcd
	Datastore spec.Datastore `json:"datastore,omitempty"`

	// endpoints are the client addresses of the members, as host:port, optionally
	// with http:// or https:// in front and / at the end. Set exactly one of
	// endpoints, service, pods, ephemeral and disk.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=262
	// +kubebuilder:validation:items:XValidation:rule="self.matches('^(https?://)?([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?|[[][0-9A-Fa-f:.]+[]]):[0-9]{1,5}/?$') && int(self.substring(self.lastIndexOf(':') + 1).replace('/', '')) >= 1 && int(self.substring(self.lastIndexOf(':') + 1).replace('/', '')) <= 65535",message="must be host:port with a port from 1 to 65535 (an IPv6 address in brackets; no path, user or Unix socket), optionally with http:// or https:// in front and / at the end, for example etcd.example:2379"
	Endpoints []string `json:"endpoints,omitempty"`

	// service is a Service of the run's namespace that selects the members.
	//
	// +optional
	Service *ServiceTarget `json:"service,omitempty"`

	// pods selects the members' pods in the run's namespace.
	//
	// +optional
	Pods *PodsTarget `json:"pods,omitempty"`

	// ephemeral describes members that the operator starts for this run alone. Runs
	// with such members wait for each other, unless concurrentRuns is Allow.
	//
	// +optional
	Ephemeral *EphemeralTarget `json:"ephemeral,omitempty"`

	// disk measures the disks of nodes without any store: each client pod writes
	// a log as etcd does. Needs datastore Disk and workload.type Append.
	//
	// +optional
	Disk *DiskTarget `json:"disk,omitempty"`

	// members says which members receive the load: All (connections are spread
	// evenly), Leader (the load follows the leader when it changes) or Followers.
	// Default All.
	//
	// +optional
	// +kubebuilder:default=All
	Members spec.MemberSelection `json:"members,omitempty"`

	// memberIndex sends the load to one member alone: the one at this place, from
	// 0, among the addresses in status.target.endpoints. Needs members All.
	// Absent: members decides.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=63
	MemberIndex *int32 `json:"memberIndex,omitempty"`

	// unreachableMembers is what the run does about addresses that do not answer
	// when it starts:
	// - Fail: it writes nothing and ends as TargetUnreachable.
	// - Skip: it loads the addresses that answer, and a warning in its result
	//   names the others. Without any address that answers, it fails.
	//
	// Default Fail.
	//
	// +optional
	// +kubebuilder:default=Fail
	UnreachableMembers spec.UnreachableMembers `json:"unreachableMembers,omitempty"`

	// sampleIntervalSeconds is the time, in seconds, between two samples of the
	// members' own metrics within the measured window. Its start and its end are
	// always sampled. One sample costs a member about 10 ms of processor time.
	// Default 5.
	//
	// +optional
	// +kubebuilder:default=5
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	SampleIntervalSeconds int32 `json:"sampleIntervalSeconds,omitempty"`

	// concurrentRuns is what the run does while another run loads the same
	// store, at any address and started by anyone:
	// - Queue: it waits. Runs of one operator that have an address in common wait
	//   in the order of their creation, without a limit. A run that waits for the
	//   lock of the store waits for at most schedulingTimeoutSeconds.
	// - Allow: it starts at once.
	//
	// Default Queue.
	//
	// +optional
	// +kubebuilder:default=Queue
	ConcurrentRuns ConcurrentRuns `json:"concurrentRuns,omitempty"`

	// tls is needed if the members serve TLS. Absent: plain text.
	//
	// +optional
	TLS *TargetTLS `json:"tls,omitempty"`

	// auth is needed if the store requires a user or a token. Absent: neither.
	//
	// +optional
	Auth *TargetAuth `json:"auth,omitempty"`

	// keyPrefix is the prefix of every key of the run. It must end in a slash,
	// have at most 64 slashes, and consist of printable ASCII characters without
	// spaces. The run refuses a prefix that has keys, or that lies within the
	// prefix of another run. After the run, the keys that it wrote are deleted.
	// Default "etcdbench/", the first 8 characters of the run's UID, and "/".
	//
	// +optional
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.size() < 2 || self.endsWith('/')",message="must end in a slash, for example bench/nightly/"
	// +kubebuilder:validation:XValidation:rule="self.matches('^[!-~]*$')",message="must consist of printable ASCII characters without spaces"
	// +kubebuilder:validation:XValidation:rule="self != 'etcdbench/'",message="must not be etcdbench/, which holds the lock of the target; add a name, for example etcdbench/nightly/"
	// +kubebuilder:validation:XValidation:rule="self.split('/').size() <= 65",message="must have at most 64 slashes: one transaction checks every prefix around it"
	KeyPrefix string `json:"keyPrefix,omitempty"`
}

// ServiceTarget names a Service in front of the members.
type ServiceTarget struct {
	// name of the Service, in the run's namespace.
	//
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must consist of lower-case letters, digits and hyphens, and begin and end with a letter or digit"
	Name string `json:"name"`

	// port of the Service for etcd's client traffic, by name or number. Default
	// "client". For a Service without ports, such as that of an EtcdCluster of
	// etcd-operator, a number is the port of the members, and the default is 2379.
	//
	// +optional
	// +kubebuilder:default="client"
	// +kubebuilder:validation:XIntOrString
	Port intstr.IntOrString `json:"port,omitzero"`
}

// PodsTarget selects the members' pods.
type PodsTarget struct {
	// selector matches the labels of the members' pods.
	//
	// +required
	// +kubebuilder:validation:XValidation:rule="(has(self.matchLabels) && self.matchLabels.size() > 0) || (has(self.matchExpressions) && self.matchExpressions.size() > 0)",message="must not be empty: an empty selector would match every pod of the namespace"
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
	// secretName is a Secret of the run's namespace with the key ca.crt, and with
	// tls.crt and tls.key if the members ask for a client certificate. The user
	// who creates the run must have the right to get it.
	//
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$')",message="must be the name of a Secret: lower-case letters, digits, hyphens and dots, with a letter or digit at both ends"
	SecretName string `json:"secretName"`

	// serverName is the name that the members' certificates must cover. Default:
	// the host of each address.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ServerName string `json:"serverName,omitempty"`
}

// TargetAuth names the Secret with the user or the token.
type TargetAuth struct {
	// secretName is a Secret of the run's namespace with the keys that the store
	// reads: username and password, as in type kubernetes.io/basic-auth, or token.
	// The user who creates the run must have the right to get it.
	//
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$')",message="must be the name of a Secret: lower-case letters, digits, hyphens and dots, with a letter or digit at both ends"
	SecretName string `json:"secretName"`
}

// HostPorts returns the distinct host:port of endpoints, without scheme and slash. Only the target's tls field decides on
// TLS.
func HostPorts(endpoints []string) []string {
	var out []string
	for _, e := range endpoints {
		if _, address, found := strings.Cut(e, "://"); found {
			e = address
		}
		if e = strings.TrimSuffix(e, "/"); !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}

// IsOwn reports whether the target exists for the run alone: its own members, or volumes of its client pods.
func (t Target) IsOwn() bool { return t.Ephemeral != nil || t.Disk != nil }
