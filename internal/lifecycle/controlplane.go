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

// EndpointPattern is a range of hosts, at one port or at any.
type EndpointPattern struct {
	hosts HostPattern
	// port is 0 for any.
	port uint16
}

// ParseEndpointPattern reads what ParseHostPattern reads, or that with a port:
// 10.0.0.0/28, 10.0.0.1:2379, [fd00::1]:2379, *.etcd.example:2379.
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

// String returns what leads to the same pattern.
func (p EndpointPattern) String() string {
	if p.port == 0 {
		return p.hosts.String()
	}
	return net.JoinHostPort(p.hosts.String(), strconv.Itoa(int(p.port)))
}

// Names are what host names lead to, by the name in lower case and without a dot
// at its end. A name that could not be looked up is missing.
type Names map[string][]netip.Addr

// of returns what a host leads to: an address to itself.
func (n Names) of(host string) []netip.Addr {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr.Unmap()}
	}
	return n[strings.ToLower(host)]
}

// matches says whether host:port is meant, by what is written or by an address
// that it leads to, which via then is.
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

// NamesToLookUp are those, of the endpoints and of Caps.ControlPlane, of which it
// matters for this run what they lead to: none once the target has been resolved.
func NamesToLookUp(run *v1alpha1.EtcdBenchmark, target Target, caps Caps) (ofTarget, configured []string) {
	if isResolved(run) || acknowledgesControlPlane(run) || len(caps.ControlPlane) == 0 {
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

// NameKey is the host's key in Names.
func NameKey(host string) string { return strings.ToLower(plainHost(host)) }

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// plainHost leaves out what leads to the same host: the dot that ends a whole
// name, and the zone of an address.
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

// capControlPlane knows the control plane by its addresses. The client pods
// know it by its keys, which not every user may read, nor every API server has
// in the usual place. What names lead to is known, and looked at, when the target
// is resolved: before status holds its addresses.
func capControlPlane(o Observed) *Problem {
	if acknowledgesControlPlane(o.Run) {
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
					"The target's address %s is one of a Kubernetes control plane, says the operator's configuration (--control-plane-endpoints: %s): a load can take that cluster down. Name another etcd, or set spec.guard.acknowledgeControlPlane if that is what is meant.",
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
	return fmt.Sprintf("%s, which leads to %s,", endpoint, via)
}
