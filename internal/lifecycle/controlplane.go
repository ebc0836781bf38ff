package lifecycle

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// EndpointPattern is a range of hosts, at one port or at any port.
type EndpointPattern struct {
	hosts HostPattern
	// port 0 means any port.
	port uint16
}

// ParseEndpointPattern reads a HostPattern with or without a port: 10.0.0.0/28, 10.0.0.1:2379, [fd00::1]:2379,
// *.etcd.example:2379.
func ParseEndpointPattern(text string) (EndpointPattern, error) {
	hosts, err := ParseHostPattern(text)
	if err == nil {
		return EndpointPattern{hosts: hosts}, nil
	}
	host, number, splitErr := net.SplitHostPort(text)
	port, portErr := strconv.ParseUint(number, 10, 16)
	if hosts, err = ParseHostPattern(host); splitErr != nil || portErr != nil || port == 0 || err != nil {
		return EndpointPattern{}, fmt.Errorf("wanted a CIDR such as 10.0.0.0/28 or a host such as etcd.example, with a port such as :2379 or without, found %q", text)
	}
	return EndpointPattern{hosts, uint16(port)}, nil
}

// String returns a text that parses to the same pattern.
func (p EndpointPattern) String() string {
	if p.port == 0 {
		return p.hosts.String()
	}
	return net.JoinHostPort(p.hosts.String(), strconv.Itoa(int(p.port)))
}

// Names maps each host name, in lower case and without a trailing dot, to its addresses. A name that could not be
// resolved is missing.
type Names map[string][]netip.Addr

// of returns the addresses of a host; an address resolves to itself.
func (n Names) of(host string) []netip.Addr {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr.Unmap()}
	}
	return n[strings.ToLower(host)]
}

// matches reports whether the pattern covers host:port, either as written or by a resolved address. via is that
// resolved address.
func (p EndpointPattern) matches(endpoint string, names Names) (via string, matched bool) {
	host, port, err := net.SplitHostPort(endpoint)
	if err != nil || p.port != 0 && port != strconv.Itoa(int(p.port)) {
		return "", false
	}
	host = plainHost(host)
	if p.hosts.matches(host) {
		return "", true
	}
	own := names.of(plainHost(p.hosts.text))
	for _, addr := range names.of(host) {
		if p.hosts.matches(addr.String()) || slices.Contains(own, addr) {
			return addr.String(), true
		}
	}
	return "", false
}

// NamesToLookUp returns the names of the endpoints and of Caps.ControlPlane that must be resolved for this run. It
// returns none once the target has been resolved.
func NamesToLookUp(run *v1alpha1.EtcdBenchmark, target Target, caps Caps) (ofTarget, configured []string) {
	if isResolved(run) || run.Spec.Target.IsOwn() || acknowledgesControlPlane(run) || len(caps.ControlPlane) == 0 {
		return nil, nil
	}
	for _, endpoint := range target.Endpoints {
		if host, _, err := net.SplitHostPort(endpoint); err == nil && !isAddress(host) {
			ofTarget = append(ofTarget, host)
		}
	}
	for _, p := range caps.ControlPlane {
		if p.hosts.isName() && len(target.Endpoints) > 0 {
			configured = append(configured, p.hosts.text)
		}
	}
	return ofTarget, configured
}

// NameKey returns the host's key in Names.
func NameKey(host string) string { return strings.ToLower(plainHost(host)) }

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// plainHost removes a trailing dot from a name and the zone from an address; both lead to the same host.
func plainHost(host string) string {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.WithZone("").String()
	}
	if n := len(host); n > 1 && host[n-1] == '.' {
		return host[:n-1]
	}
	return host
}

func acknowledgesControlPlane(run *v1alpha1.EtcdBenchmark) bool {
	return run.Spec.Guard != nil && run.Spec.Guard.AcknowledgeControlPlane
}

// capControlPlane recognizes the control plane by its addresses. The client pods recognize it by its keys, but not
// every etcd user may read them, and not every API server stores them under the usual prefix. Names are resolved and
// checked together with the target, before status holds its addresses.
func capControlPlane(o Observed) *Problem {
	if acknowledgesControlPlane(o.Run) || o.Run.OnlyObserves() {
		return nil
	}
	endpoints := o.Target.Endpoints
	if o.resolved() {
		endpoints = o.status().Target.Endpoints
	}
	for _, endpoint := range endpoints {
		for _, p := range o.Caps.ControlPlane {
			if via, matched := p.matches(endpoint, o.Target.Names); matched {
				return &Problem{v1alpha1.ReasonControlPlaneTarget, fmt.Sprintf(
					"The target's address %s belongs to a Kubernetes control plane (--control-plane-endpoints of "+
						"the operator: %s). A load can take that cluster down. Choose another etcd, or set "+
						"spec.guard.acknowledgeControlPlane: true to accept the risk.",
					endpointVia(endpoint, via), p)}
			}
		}
	}
	return nil
}

func endpointVia(endpoint, via string) string {
	if via == "" || strings.Contains(endpoint, via) {
		return endpoint
	}
	return fmt.Sprintf("%s (resolved to %s)", endpoint, via)
}
