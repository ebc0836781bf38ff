package lifecycle

import (
	"fmt"
	"net"
	"net/netip"
	"path"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// Caps are what the operator lets any run do. The zero value lets it do
// anything.
type Caps struct {
	// Endpoints has the hosts that may be loaded; empty is any.
	Endpoints []HostPattern
	// ControlPlane has where the etcd of a Kubernetes API server is, which no run
	// may load that does not acknowledge it.
	ControlPlane []EndpointPattern
	// PodsPerRun, RunsPerNamespace, which go on or wait, and RatePerRun, of
	// load.rate and in requests per second, are the highest that may be; 0 is any.
	// No rate bounds a preload or a disturbance.
	PodsPerRun, RunsPerNamespace, RatePerRun int64
}

// HostPattern is a range of addresses, such as 10.0.0.0/8, or a name in which *
// stands for anything, such as *.etcd.svc.
type HostPattern struct {
	text   string
	prefix netip.Prefix
}

// ParseHostPattern reads a CIDR, an address, or a name.
func ParseHostPattern(text string) (HostPattern, error) {
	p := HostPattern{text: strings.ToLower(text)}
	if prefix, err := netip.ParsePrefix(text); err == nil {
		p.prefix = prefix.Masked()
		return p, nil
	}
	if addr, err := netip.ParseAddr(text); err == nil {
		p.prefix = netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen())
		return p, nil
	}
	if _, err := path.Match(p.text, ""); err != nil || text == "" || strings.ContainsAny(text, "/: ") {
		return p, fmt.Errorf("wanted a CIDR such as 10.0.0.0/8 or a host such as *.etcd.svc, without a port, found %q", text)
	}
	return p, nil
}

// String returns what was read.
func (p HostPattern) String() string { return p.text }

// isName says that the pattern is one name.
func (p HostPattern) isName() bool {
	return !p.prefix.IsValid() && !strings.ContainsAny(p.text, `*?[\`)
}

// matches says whether a host is meant, as it is written. What a name leads to
// can change, and so only patterns of names allow names.
func (p HostPattern) matches(host string) bool {
	addr, err := netip.ParseAddr(host)
	if p.prefix.IsValid() {
		return err == nil && p.prefix.Contains(addr.Unmap())
	}
	matched, _ := path.Match(p.text, strings.ToLower(host))
	return matched
}

// checkCaps looks at a run until it was let in: caps that change later end
// nothing.
func checkCaps(o Observed, _ time.Time) *Problem {
	if o.status().Admission != nil || o.status().Job != nil {
		return nil
	}
	for _, c := range []func(Observed) *Problem{capPods, capRate, capRuns, capEndpoints, capControlPlane} {
		if p := c(o); p != nil {
			return p
		}
	}
	return nil
}

func exceeded(format string, args ...any) *Problem {
	return &Problem{v1alpha1.ReasonLimitExceeded, "The operator's configuration " + fmt.Sprintf(format, args...)}
}

func capPods(o Observed) *Problem {
	pods, limit := int64(o.Run.Resolved().Load.Pods), o.Caps.PodsPerRun
	if limit == 0 || pods <= limit {
		return nil
	}
	return exceeded("lets a run have %d client pods (--max-pods-per-run), and load.pods is %d: lower it.", limit, pods)
}

func capRate(o Observed) *Problem {
	limit := o.Caps.RatePerRun
	rate := o.Run.Resolved().Load.Rate
	switch {
	case limit == 0:
		return nil
	case rate == nil:
		return exceeded("lets a run make %d requests per second (--max-rate-per-run), and a closed loop makes as many as the target answers: set load.rate.", limit)
	case highestRate(*rate) > limit:
		return exceeded("lets a run make %d requests per second (--max-rate-per-run), and load.rate goes up to %d: lower it.", limit, highestRate(*rate))
	}
	return nil
}

func highestRate(r spec.Rate) int64 {
	highest := r.PerSecond
	if r.Ramp != nil {
		highest = max(highest, r.Ramp.FromPerSecond, r.Ramp.ToPerSecond)
	}
	for _, s := range r.Stages {
		highest = max(highest, s.PerSecond)
	}
	return highest
}

func capRuns(o Observed) *Problem {
	limit := o.Caps.RunsPerNamespace
	if limit == 0 || o.RunsBefore < limit {
		return nil
	}
	return exceeded("lets %d runs of a namespace go on or wait at a time (--max-runs-per-namespace), and %d were there before this one: create it again when one has finished.",
		limit, o.RunsBefore)
}

func capEndpoints(o Observed) *Problem {
	if len(o.Caps.Endpoints) == 0 || !o.resolved() {
		return nil
	}
	for _, endpoint := range o.status().Target.Endpoints {
		if !o.Caps.allows(endpoint) {
			return &Problem{v1alpha1.ReasonEndpointNotAllowed, fmt.Sprintf(
				"The operator's configuration does not allow the target's address %s, only %s (--allowed-endpoints): name another target, or ask whoever runs the operator.", endpoint, o.Caps.Endpoints)}
		}
	}
	return nil
}

func (c Caps) allows(endpoint string) bool {
	host, _, err := net.SplitHostPort(endpoint)
	if err != nil {
		return false
	}
	for _, p := range c.Endpoints {
		if p.matches(host) {
			return true
		}
	}
	return false
}

// AwaitsCaps says whether the operator's caps are yet to be looked at.
func AwaitsCaps(run *v1alpha1.EtcdBenchmark) bool {
	return !isOver(run) && run.Status.Admission == nil && run.Status.Job == nil
}

// RunsBefore counts the runs of its namespace that go on or wait, and came
// before this one.
func RunsBefore(run *v1alpha1.EtcdBenchmark, all []v1alpha1.EtcdBenchmark) (n int64) {
	for i := range all {
		other := &all[i]
		in := other.Status.Admission != nil || other.Status.Job != nil
		if other.UID != run.UID && other.Namespace == run.Namespace && !isOver(other) && (in || createdBefore(other, run)) {
			n++
		}
	}
	return n
}
