package lifecycle

import (
	"fmt"
	"net"
	"net/netip"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/text"
)

// Caps are the operator's limits for every run. The zero value has no limits.
type Caps struct {
	// Endpoints lists the hosts that runs may load; empty means any host.
	Endpoints []HostPattern
	// ControlPlane lists the addresses of etcd clusters behind a Kubernetes API server. A run may load them only if it
	// acknowledges that.
	ControlPlane []EndpointPattern
	// PodsPerRun, RunsPerNamespace and RatePerRun are maximums; 0 means no limit. RunsPerNamespace is how many runs of a
	// namespace run at a time; the others wait. RatePerRun limits load.rate in requests per second; it does not limit a
	// preload or a disturbance.
	PodsPerRun, RunsPerNamespace, RatePerRun int64
	// MemberImages lists the images that members of spec.target.ephemeral may have; empty means that runs may have no such
	// members. MembersPerRun and MemberStorageBytes are maximums of such a run, the second for each member; 0 means no limit.
	MemberImages                      []ImagePattern
	MembersPerRun, MemberStorageBytes int64
}

// ImagePattern is an image, in which * matches any text without a slash, such as registry.example.org/etcd:*.
type ImagePattern string

// ParseImagePattern reads an image with or without *.
func ParseImagePattern(text string) (ImagePattern, error) {
	if _, err := path.Match(text, ""); err != nil || text == "" || strings.ContainsAny(text, "[] ?") {
		return "", fmt.Errorf("wanted an image such as registry.example.org/etcd:v3.6.7, or with * such as registry.example.org/etcd:*, found %q", text)
	}
	return ImagePattern(text), nil
}

func (p ImagePattern) matches(image string) bool {
	matched, _ := path.Match(string(p), image)
	return matched
}

// HostPattern is a range of addresses, such as 10.0.0.0/8, or a name in which * matches any text, such as *.etcd.svc.
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

// String returns the pattern's text in lower case.
func (p HostPattern) String() string { return p.text }

// isName reports whether the pattern is a single name.
func (p HostPattern) isName() bool {
	return !p.prefix.IsValid() && !strings.ContainsAny(p.text, `*?[\`)
}

// matches compares the host as it is written, without resolving it. A name can resolve to another address later, so
// only name patterns allow names.
func (p HostPattern) matches(host string) bool {
	addr, err := netip.ParseAddr(host)
	if p.prefix.IsValid() {
		return err == nil && p.prefix.Contains(addr.Unmap())
	}
	matched, _ := path.Match(p.text, strings.ToLower(host))
	return matched
}

// checkCaps checks a run until it is admitted. Limits that change later do not end a run.
func checkCaps(o Observed, _ time.Time) *Problem {
	if o.status().Admission != nil || o.status().Job != nil {
		return nil
	}
	for _, c := range []func(Observed) *Problem{capPods, capRate, capMembers, capEndpoints, capControlPlane} {
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
	return exceeded("allows at most %d client pods per run (--max-pods-per-run), and spec.load.pods is %d. Lower it.", limit, pods)
}

func capRate(o Observed) *Problem {
	limit := o.Caps.RatePerRun
	rate := o.Run.Resolved().Load.Rate
	switch {
	case limit == 0:
		return nil
	case rate == nil:
		return exceeded("allows at most %d requests per second per run (--max-rate-per-run), and a closed loop has no rate limit. Set spec.load.rate.", limit)
	case highestRate(*rate) > limit:
		return exceeded("allows at most %d requests per second per run (--max-rate-per-run), and spec.load.rate goes up to %d. Lower it.", limit, highestRate(*rate))
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

func capMembers(o Observed) *Problem {
	if d := o.spec().Target.Disk; d != nil {
		return capStorage(o, d.Storage, "spec.target.disk.storage")
	}
	t := o.members()
	if t == nil {
		return nil
	}
	matches := func(p ImagePattern) bool { return p.matches(t.Image) }
	limit := o.Caps.MembersPerRun
	switch {
	case len(o.Caps.MemberImages) == 0:
		return exceeded("allows no images for spec.target.ephemeral (--member-images), so runs cannot have members of their own. Choose another target, or ask the operator's administrator to allow images.")
	case !slices.ContainsFunc(o.Caps.MemberImages, matches):
		return exceeded("does not allow the image %s for spec.target.ephemeral. It allows %s (--member-images).", t.Image, o.Caps.MemberImages)
	case limit > 0 && int64(t.Replicas) > limit:
		return exceeded("allows at most %d members per run (--max-members-per-run), and spec.target.ephemeral.replicas is %d. Lower it.", limit, t.Replicas)
	}
	return capStorage(o, t.Storage, "spec.target.ephemeral.storage")
}

// capStorage limits the storage of each member, and of each disk to measure.
func capStorage(o Observed, s *v1alpha1.MemberStorage, field string) *Problem {
	most, bytes := o.Caps.MemberStorageBytes, storageBytes(s)
	switch {
	case most > 0 && bytes == 0:
		return exceeded("allows at most %s of storage per member (--max-member-storage). Set a size in %s.", text.Bytes(float64(most)), field)
	case most > 0 && bytes > most:
		return exceeded("allows at most %s of storage per member (--max-member-storage), and %s has %s. Lower it.", text.Bytes(float64(most)), field, text.Bytes(float64(bytes)))
	}
	return nil
}

// storageBytes is how much a member may store; 0 if nothing limits it.
func storageBytes(s *v1alpha1.MemberStorage) int64 {
	switch {
	case s == nil:
		return 0
	case s.VolumeClaim != nil:
		return s.VolumeClaim.Size.Value()
	case s.EmptyDir != nil && s.EmptyDir.SizeLimit != nil:
		return s.EmptyDir.SizeLimit.Value()
	}
	return 0
}

func capEndpoints(o Observed) *Problem {
	if len(o.Caps.Endpoints) == 0 || !o.resolved() || o.members() != nil {
		return nil
	}
	for _, endpoint := range o.status().Target.Endpoints {
		if !o.Caps.allows(endpoint) {
			return &Problem{v1alpha1.ReasonEndpointNotAllowed, fmt.Sprintf(
				"The operator's configuration does not allow the target's address %s. It allows %s "+
					"(--allowed-endpoints). Choose another target, or ask the operator's administrator to allow "+
					"this address.", endpoint, o.Caps.Endpoints)}
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

// AwaitsAdmission reports whether the next decision may admit a run: its addresses are known.
func AwaitsAdmission(run *v1alpha1.EtcdBenchmark) bool {
	return !run.HasFinished() && !isAdmitted(run) && isResolved(run)
}

// CountsInNamespace reports whether a run counts in Caps.RunsPerNamespace: it has been admitted, or may be. A run that
// waits for its target, or for runs at its addresses, does not count.
func CountsInNamespace(run *v1alpha1.EtcdBenchmark) bool {
	return !run.HasFinished() && (isAdmitted(run) || isResolved(run) && !queuesFor(run, v1alpha1.QueueAddresses))
}

// WaitsForLimit reports whether the limit of its namespace keeps a run from starting.
func WaitsForLimit(run *v1alpha1.EtcdBenchmark) bool {
	return !run.HasFinished() && !isAdmitted(run) && queuesFor(run, v1alpha1.QueueLimit)
}

// IsAdmitted reports whether the operator lets a run load its target, or did.
func IsAdmitted(run *v1alpha1.EtcdBenchmark) bool { return isAdmitted(run) }

// RunsBefore counts the runs of the namespace that count in Caps.RunsPerNamespace and were admitted or created before
// this run.
func RunsBefore(run *v1alpha1.EtcdBenchmark, all []v1alpha1.EtcdBenchmark) (n int64) {
	for i := range all {
		other := &all[i]
		if other.UID != run.UID && other.Namespace == run.Namespace && CountsInNamespace(other) && (isAdmitted(other) || createdBefore(other, run)) {
			n++
		}
	}
	return n
}
