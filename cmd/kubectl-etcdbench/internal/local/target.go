package local

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// MaxEmbeddedMembers is the most members that one machine starts.
const MaxEmbeddedMembers = 9

// Options replace what a cluster provides.
type Options struct {
	// EmbeddedMembers is the number of etcd members to start as the target; 0 uses spec.target.
	EmbeddedMembers int
	// TLS and User replace the target's Secrets; nil if nothing does.
	TLS, User plan.Given
	// Stop, when closed, ends the run early with the result so far.
	Stop <-chan struct{}
	// Show gets a copy of each new state of the run.
	Show func(*v1alpha1.EtcdBenchmark)
	// Notice gets messages for the user.
	Notice func(string)
}

// Validate returns the reason why the run cannot run on this machine, or nil.
func (o Options) Validate(run *v1alpha1.EtcdBenchmark) error {
	t := run.Spec.Target
	row, _ := t.Datastore.Store()
	embedded := o.EmbeddedMembers > 0
	switch {
	case o.EmbeddedMembers < 0 || o.EmbeddedMembers > MaxEmbeddedMembers:
		return fmt.Errorf("--embedded-members: wanted 1 to %d, found %d", MaxEmbeddedMembers, o.EmbeddedMembers)
	case embedded && t.MemberIndex != nil && int(*t.MemberIndex) >= o.EmbeddedMembers:
		return fmt.Errorf("spec.target.memberIndex is %d, and --embedded-members starts %d: wanted 0 to %d", *t.MemberIndex, o.EmbeddedMembers, o.EmbeddedMembers-1)
	case embedded && t.Datastore != spec.Etcd:
		return fmt.Errorf("--embedded-members starts etcd, and spec.target.datastore is %s: "+
			"give the addresses of its servers with --endpoints host:port,…", t.Datastore)
	case t.Datastore != spec.Etcd && len(t.Endpoints) == 0:
		return fmt.Errorf("spec.target.%s can be resolved only in a cluster: give the servers' addresses with --endpoints host:port,…", unresolvable(t))
	case !embedded && len(t.Endpoints) == 0:
		return fmt.Errorf("spec.target.%s can be resolved only in a cluster: "+
			"give the members' addresses with --endpoints host:port,…, or start members with --embedded-members 3", unresolvable(t))
	case !embedded && t.TLS != nil && o.TLS == nil:
		return fmt.Errorf("spec.target.tls names the Secret %s of a cluster: "+
			"put its files (%s, %s, %s) into a folder and give it with --tls-dir, or give them with --cacert, --cert and --key", t.TLS.SecretName, plan.CAFile, plan.CertFile, plan.KeyFile)
	case !embedded && t.Auth != nil && o.User == nil:
		return fmt.Errorf("spec.target.auth names the Secret %s of a cluster: "+
			"put its files (%s) into a folder and give it with --auth-dir, or give the %s", t.Auth.SecretName, strings.Join(row.Auth, ", "), authFlags(row))
	}
	given := plan.Target{Datastore: t.Datastore}
	if o.TLS != nil {
		given.TLS = &plan.TLS{}
	}
	if o.User != nil {
		given.Auth = &plan.Auth{}
	}
	return datastore.CheckCredentials(o.access(given))
}

// authFlags are the flags that give what a store takes.
func authFlags(row spec.Store) string {
	if slices.Contains(row.Auth, plan.TokenFile) {
		return "token with --token-file"
	}
	return "user with --user and --password"
}

// access puts what replaces the Secrets of a target into it.
func (o Options) access(t plan.Target) plan.Target {
	if t.TLS != nil {
		t.TLS.Given = o.TLS
	}
	if t.Auth != nil {
		t.Auth.Given = o.User
	}
	return t
}

func unresolvable(t v1alpha1.Target) string {
	if t.Service != nil {
		return "service"
	}
	return "pods"
}

// plan returns the run's plan with the changes for this machine. Embedded members have neither TLS nor users.
func (o Options) plan(run *v1alpha1.EtcdBenchmark, endpoints []string) (plan.Plan, error) {
	p, err := benchmark.Plan(run, endpoints)
	if err != nil {
		return plan.Plan{}, err
	}
	if o.EmbeddedMembers > 0 {
		// The members exist only for this run.
		p.Lock = nil
		p.Target.TLS, p.Target.Auth = nil, nil
	}
	p.Target = o.access(p.Target)
	// The controller enforces spec.timeoutSeconds. The sessions' own limit applies only if the controller hangs.
	p.TimeoutSeconds += timeoutMargin
	return p, nil
}

// timeoutMargin is in seconds.
const timeoutMargin = 60

// warnings say what limits the value of the numbers of a run on this machine.
func (o Options) warnings(run *v1alpha1.EtcdBenchmark, endpoints []string) []string {
	t := run.Spec.Target
	switch {
	case o.EmbeddedMembers > 0 && (t.TLS != nil || t.Auth != nil):
		return []string{embeddedWarning, "Embedded members have neither TLS nor users: spec.target.tls and spec.target.auth were not used."}
	case o.EmbeddedMembers > 0:
		return []string{embeddedWarning}
	case allLoopback(endpoints):
		return []string{"The load generator and the members ran on one machine and shared its CPUs, memory and disk."}
	}
	return nil
}

// shared is what the load generator and the members have in common.
func (o Options) shared(endpoints []string) v1alpha1.SharedWithMembers {
	switch {
	case o.EmbeddedMembers > 0:
		return v1alpha1.SharedProcess
	case allLoopback(endpoints):
		return v1alpha1.SharedNode
	}
	return ""
}

const embeddedWarning = "The members were embedded: they ran in the load generator's process and shared its CPUs, memory and disk. " +
	"Compare these numbers only with those of other runs with embedded members."

func allLoopback(endpoints []string) bool {
	for _, e := range v1alpha1.HostPorts(endpoints) {
		if !isLoopback(e) {
			return false
		}
	}
	return true
}

func isLoopback(endpoint string) bool {
	host, _, err := net.SplitHostPort(endpoint)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
