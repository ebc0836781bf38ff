package local

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
)

// MaxEmbeddedMembers bounds what one machine is asked to start.
const MaxEmbeddedMembers = 9

// Options say where a run without a cluster finds what a cluster would give it.
type Options struct {
	// EmbeddedMembers is how many etcd members are started as the target; 0
	// means that there is a target already.
	EmbeddedMembers int
	// TLSDir and AuthDir hold the files of the target's Secrets.
	TLSDir, AuthDir string
	// Stop, once closed, ends the run early with what was measured until then.
	Stop <-chan struct{}
	// Show gets a copy of each new state of the run.
	Show func(*v1alpha1.EtcdBenchmark)
	// Notice gets what a person should know beside it.
	Notice func(string)
}

// Validate says what keeps the run from being run here.
func (o Options) Validate(run *v1alpha1.EtcdBenchmark) error {
	t := run.Spec.Target
	embedded := o.EmbeddedMembers > 0
	switch {
	case o.EmbeddedMembers < 0 || o.EmbeddedMembers > MaxEmbeddedMembers:
		return fmt.Errorf("--embedded-members: wanted 1 to %d, found %d", MaxEmbeddedMembers, o.EmbeddedMembers)
	case embedded && t.Datastore != spec.Etcd:
		return fmt.Errorf("--embedded-members start etcd, and spec.target.datastore is %s: "+
			"give the addresses of its servers with --endpoints host:port,…", t.Datastore)
	case embedded && (o.TLSDir != "" || o.AuthDir != ""):
		return errors.New("--embedded-members serve plain text and know no users: drop --tls-dir and --auth-dir, " +
			"or name a target that needs them with --endpoints")
	case t.Datastore != spec.Etcd && len(t.Endpoints) == 0:
		return fmt.Errorf("spec.target.%s can be resolved by a cluster only: give the servers' addresses with --endpoints host:port,…", unresolvable(t))
	case !embedded && len(t.Endpoints) == 0:
		return fmt.Errorf("spec.target.%s can be resolved by a cluster only: "+
			"give the members' addresses with --endpoints host:port,…, or start members with --embedded-members 3", unresolvable(t))
	case !embedded && t.TLS != nil && o.TLSDir == "":
		return fmt.Errorf("spec.target.tls names the Secret %s, which is in a cluster: "+
			"give a folder with its files (%s, %s, %s) with --tls-dir", t.TLS.SecretName, plan.CAFile, plan.CertFile, plan.KeyFile)
	case !embedded && t.Auth != nil && o.AuthDir == "":
		return fmt.Errorf("spec.target.auth names the Secret %s, which is in a cluster: "+
			"give a folder with its files (%s, %s) with --auth-dir", t.Auth.SecretName, plan.UsernameFile, plan.PasswordFile)
	}
	return errors.Join(checkFolder("--tls-dir", o.TLSDir), checkFolder("--auth-dir", o.AuthDir))
}

// checkFolder says what is wrong with the folder that a flag names, if it names one.
func checkFolder(flag, dir string) error {
	if dir == "" {
		return nil
	}
	switch info, err := os.Stat(dir); {
	case err != nil:
		return fmt.Errorf("%s: wanted a folder: %w", flag, err)
	case !info.IsDir():
		return fmt.Errorf("%s: wanted a folder, found the file %s", flag, dir)
	}
	return nil
}

func unresolvable(t v1alpha1.Target) string {
	if t.Service != nil {
		return "service"
	}
	return "pods"
}

// plan returns the run's plan with what is different here. Embedded members
// serve plain text and know no users.
func (o Options) plan(run *v1alpha1.EtcdBenchmark, endpoints []string) (plan.Plan, error) {
	p, err := benchmark.Plan(run, endpoints)
	if err != nil {
		return plan.Plan{}, err
	}
	// Nobody queues without a cluster.
	p.AwaitTurn = false
	if o.EmbeddedMembers > 0 {
		p.Target.TLS, p.Target.Auth = nil, nil
	}
	if t := p.Target.TLS; t != nil {
		t.Dir, t.SecretName = o.TLSDir, fmt.Sprintf("%s (the folder %s)", t.SecretName, o.TLSDir)
	}
	if a := p.Target.Auth; a != nil {
		a.Dir, a.SecretName = o.AuthDir, fmt.Sprintf("%s (the folder %s)", a.SecretName, o.AuthDir)
	}
	// The conductor keeps spec.timeoutSeconds itself; the sessions' own limit
	// is for a conductor that is gone.
	p.TimeoutSeconds += timeoutMargin
	return p, nil
}

// timeoutMargin is in seconds.
const timeoutMargin = 60

// warnings say how far the numbers of a run on this machine can be believed.
func (o Options) warnings(run *v1alpha1.EtcdBenchmark, endpoints []string) []string {
	t := run.Spec.Target
	switch {
	case o.EmbeddedMembers > 0 && (t.TLS != nil || t.Auth != nil):
		return []string{embeddedWarning, "Embedded members serve plain text and know no users: spec.target.tls and spec.target.auth were not used."}
	case o.EmbeddedMembers > 0:
		return []string{embeddedWarning}
	case allLoopback(endpoints):
		return []string{"Load generator and members ran on one machine and shared its CPUs, memory and disk."}
	}
	return nil
}

// shared says what load generator and members have in common.
func (o Options) shared(endpoints []string) v1alpha1.SharedWithMembers {
	switch {
	case o.EmbeddedMembers > 0:
		return v1alpha1.SharedProcess
	case allLoopback(endpoints):
		return v1alpha1.SharedNode
	}
	return ""
}

const embeddedWarning = "The members were embedded: they ran in the load generator's own process and shared its CPUs, memory and disk. " +
	"Compare such numbers with each other, not with those of a cluster."

func allLoopback(endpoints []string) bool {
	for _, e := range endpoints {
		if !isLoopback(e) {
			return false
		}
	}
	return true
}

func isLoopback(endpoint string) bool {
	if _, bare, found := strings.Cut(endpoint, "://"); found {
		endpoint = bare
	}
	host, _, err := net.SplitHostPort(endpoint)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
