package lifecycle

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"

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

// matches says whether host:port is meant.
func (p EndpointPattern) matches(endpoint string) bool {
	host, port, err := net.SplitHostPort(endpoint)
	if err != nil || p.port != 0 && port != strconv.Itoa(int(p.port)) {
		return false
	}
	return p.hosts.matches(plainHost(host))
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

// capControlPlane knows the control plane by its addresses. The client pods
// know it by its keys, which not every user may read, nor every API server has
// in the usual place.
func capControlPlane(o Observed) *Problem {
	if g := o.Run.Spec.Guard; !o.resolved() || g != nil && g.AcknowledgeControlPlane {
		return nil
	}
	for _, endpoint := range o.status().Target.Endpoints {
		for _, p := range o.Caps.ControlPlane {
			if p.matches(endpoint) {
				return &Problem{v1alpha1.ReasonControlPlaneTarget, fmt.Sprintf(
					"The target's address %s is one of a Kubernetes control plane, says the operator's configuration (--control-plane-endpoints: %s): a load can take that cluster down. Name another etcd, or set spec.guard.acknowledgeControlPlane if that is what is meant.", endpoint, p)}
			}
		}
	}
	return nil
}
