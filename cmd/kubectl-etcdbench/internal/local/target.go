package local

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/supervisor"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ephemeral"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// MaxMembers is the most members that one machine starts.
const MaxMembers = 9

// Options replace what a cluster provides.
type Options struct {
	// Members is the number of members to start as the target; 0 uses spec.target.
	Members int
	// Target is the name of the target in a suite; empty without one.
	Target v1alpha1.EntryName
	// MemberBinary is the program of these members; empty is the etcd in this program.
	MemberBinary string
	// DataDir is the folder for their data; empty is that for temporary files. For spec.target.disk it is the folder to measure.
	DataDir string
	// described are the members in the manifest, with the number that starts; nil if it describes none.
	described *v1alpha1.EphemeralTarget
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
	own := o.Members > 0 || t.Ephemeral != nil
	store, startable := ephemeral.Of(t.Datastore)
	switch {
	case t.Disk != nil:
		return o.validateDisk()
	case o.Members < 0 || o.Members > MaxMembers:
		return fmt.Errorf("--members: wanted 1 to %d, found %d", MaxMembers, o.Members)
	case own && o.MemberBinary != "" && whyNoProgram(o.MemberBinary) != nil:
		return fmt.Errorf("--member-binary: wanted a program that can be started: %w", whyNoProgram(o.MemberBinary))
	case own && o.DataDir != "" && whyNoFolder(o.DataDir) != nil:
		return fmt.Errorf("--data-dir: wanted a folder in which members can keep their data: %w", whyNoFolder(o.DataDir))
	case !own && (o.MemberBinary != "" || o.DataDir != ""):
		return errors.New("--member-binary and --data-dir are for members that the command starts: add --members, or describe members in spec.target.ephemeral")
	case own && t.MemberIndex != nil && int(*t.MemberIndex) >= o.of(run).Members:
		return fmt.Errorf("spec.target.memberIndex is %d, and --members starts %d: wanted 0 to %d", *t.MemberIndex, o.Members, o.Members-1)
	case own && !startable:
		return fmt.Errorf("--members starts no %s: give the addresses of its servers with --endpoints host:port,…", row.Name)
	case own && !store.Embedded && o.MemberBinary == "":
		return fmt.Errorf("members of %s need its program: give it with --member-binary %sFILE, for example --member-binary %[2]s%s", store.Name, o.named(), store.Program)
	case !startable && len(t.Endpoints) == 0:
		return fmt.Errorf("spec.target.%s can be resolved only in a cluster: give the servers' addresses with --endpoints host:port,…", unresolvable(t))
	case !own && len(t.Endpoints) == 0:
		return fmt.Errorf("spec.target.%s can be resolved only in a cluster: "+
			"give the members' addresses with --endpoints host:port,…, or start members with --members 3", unresolvable(t))
	case !own && t.TLS != nil && o.TLS == nil:
		return fmt.Errorf("spec.target.tls names the Secret %s of a cluster: "+
			"put its files (%s, %s, %s) into a folder and give it with --tls-dir, or give them with --cacert, --cert and --key", t.TLS.SecretName, plan.CAFile, plan.CertFile, plan.KeyFile)
	case !own && t.Auth != nil && o.User == nil:
		return fmt.Errorf("spec.target.auth names the Secret %s of a cluster: "+
			"put its files (%s) into a folder and give it with --auth-dir, or give the %s", t.Auth.SecretName, strings.Join(row.Auth, ", "), authFlags(row))
	}
	if own && row.InMemory {
		if err := fits(benchmark.Run(run), store, int64(o.of(run).Members)); err != nil {
			return err
		}
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

// validateDisk checks the options of a run that measures a folder of this machine.
func (o Options) validateDisk() error {
	switch {
	case o.Members > 0 || o.MemberBinary != "":
		return errors.New("spec.target.disk has no members: remove --members and --member-binary")
	case o.DataDir == "":
		return errors.New("spec.target.disk describes the volume of a pod: give the folder to measure with --data-dir FOLDER")
	}
	return nil
}

// memoryFactor is how much memory a member that keeps all values in memory needs at least, by the size of keys and values.
// With room, and 100,000 keys of 256 B with 1 KiB, the processes of ZooKeeper and Consul take five times that size.
const memoryFactor = 2

// fits fails if the members of a run keep more in memory than this machine has.
func fits(r workload.Run, store ephemeral.Store, members int64) error {
	available, known := supervisor.AvailableMemory()
	content := r.Content()
	if needed := members * memoryFactor * content; known && needed > available {
		return fmt.Errorf("members of %s keep all values in memory: %d × %d × %s MB of keys and values need at least %s MB, and this machine has %s MB available; "+
			"lower the number of keys or the size of values", store.Name, members, memoryFactor, megabytes(content), megabytes(needed), megabytes(available))
	}
	return nil
}

func megabytes(bytes int64) string { return text.Grouped(bytes / 1_000_000) }

// named precedes the program of a suite's target.
func (o Options) named() string {
	if o.Target == "" {
		return ""
	}
	return string(o.Target) + "="
}

func whyNoProgram(file string) error {
	_, err := exec.LookPath(file)
	return err
}

// whyNoFolder returns why nothing can be written into a folder, or nil.
func whyNoFolder(dir string) error {
	made, err := os.MkdirTemp(dir, "etcdbench-")
	if err != nil {
		return err
	}
	return os.Remove(made)
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

// plan returns the run's plan with the changes for this machine. The run's own members have neither TLS nor users.
func (o Options) plan(run *v1alpha1.EtcdBenchmark, endpoints []string) (plan.Plan, error) {
	p, err := benchmark.Plan(run, endpoints)
	if err != nil {
		return plan.Plan{}, err
	}
	if o.Members > 0 {
		p.Target.TLS, p.Target.Auth = nil, nil
	}
	if p.Target = o.access(p.Target); run.Spec.Target.Disk != nil {
		p.Target.Dir = o.DataDir
	}
	// The controller enforces spec.timeoutSeconds. The sessions' own limit applies only if the controller hangs.
	p.TimeoutSeconds += timeoutMargin
	return p, nil
}

// timeoutMargin is in seconds.
const timeoutMargin = 60

// warnings say what limits the value of the numbers of a run on this machine.
func (o Options) warnings(run *v1alpha1.EtcdBenchmark, shared bool) (all []string) {
	if shared {
		all = append(all, "The load generator and the members ran on one machine and shared its CPUs, memory and disk.")
	}
	if d := run.Spec.Target.Disk; d != nil && d.Storage != nil {
		all = append(all, "spec.target.disk.storage was not used: the folder was "+o.DataDir+" on this machine.")
	}
	if o.Members == 0 {
		return all
	}
	all = append(all, o.unused()...)
	if t := run.Spec.Target; t.TLS != nil || t.Auth != nil {
		all = append(all, "Members that the command starts have neither TLS nor users: spec.target.tls and spec.target.auth were not used.")
	}
	if dir, is := o.InMemory(); is {
		all = append(all, "the members' data is not durable, because it lies in memory ("+dir+"): a store on a disk is slower")
	}
	return all
}

// allLoopback reports whether there are addresses, and all lead to this machine.
func allLoopback(endpoints []string) bool {
	for _, e := range v1alpha1.HostPorts(endpoints) {
		if !isLoopback(e) {
			return false
		}
	}
	return len(endpoints) > 0
}

func isLoopback(endpoint string) bool {
	host, _, err := net.SplitHostPort(endpoint)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
