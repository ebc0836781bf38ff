package access

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"go.etcd.io/etcd/client/pkg/v3/srv"
)

// discovery is how the addresses are looked up in DNS.
type discovery struct {
	domain, service string
	// insecure accepts addresses without TLS.
	insecure bool
}

// Locate looks up the addresses. With variables, those of etcdctl are used if no flag gives any. It returns a notice for
// each address that is left out.
func (f *Flags) Locate(variables bool) (notices []string, err error) {
	f.endpointsGivenBy = "--endpoints"
	if variables && !f.given(endpoints) {
		f.take(discoverySRV, &f.discovery.domain)
	}
	switch addresses := os.Getenv(variableOf(endpoints)); {
	case f.discovery.domain != "":
		f.endpointsGivenBy = f.name(discoverySRV, f.discovery.domain)
		return f.discover()
	case variables && addresses != "" && !f.given(endpoints):
		f.Endpoints, f.endpointsGivenBy = strings.Split(addresses, ","), variableOf(endpoints)
	}
	for i, e := range f.Endpoints {
		f.Endpoints[i] = strings.TrimSpace(e)
	}
	return nil, nil
}

// EndpointsBy is what gave the addresses, for messages.
func (f *Flags) EndpointsBy() string { return f.endpointsGivenBy }

// ServerNameBy is what gave ServerName, for messages.
func (f *Flags) ServerNameBy() string {
	if f.serverNameGivenBy != "" {
		return f.serverNameGivenBy
	}
	return "--" + serverName
}

// discover looks up the addresses as etcdctl does.
func (f *Flags) discover() (notices []string, err error) {
	d := &f.discovery
	f.take(discoverySRVName, &d.service)
	secure := strconv.FormatBool(d.insecure)
	f.take(insecureDiscovery, &secure)
	if d.insecure, err = strconv.ParseBool(secure); err != nil {
		return nil, fmt.Errorf("%s: wanted true or false, found %q", f.By(insecureDiscovery), secure)
	}
	found, err := srv.GetClient("etcd-client", d.domain, d.service)
	if err != nil {
		return nil, fmt.Errorf("%s: found no SRV records of %s: %w", f.endpointsGivenBy, d.records(), err)
	}
	f.Endpoints = nil
	for _, e := range found.Endpoints {
		scheme, address, _ := strings.Cut(e, "://")
		host, port, _ := strings.Cut(address, ".:")
		if e = scheme + "://" + address; port != "" {
			// A name in DNS ends in a dot, and no certificate has it.
			e = scheme + "://" + host + ":" + port
		}
		switch {
		case scheme == "http" && !d.insecure:
			notices = append(notices, fmt.Sprintf("%s: left out %s, which has no TLS (%s=false).", f.endpointsGivenBy, e, f.By(insecureDiscovery)))
		case !slices.Contains(f.Endpoints, e):
			f.Endpoints = append(f.Endpoints, e)
		}
	}
	if len(f.Endpoints) == 0 {
		return notices, fmt.Errorf("%s: found no address with TLS in the SRV records of %s: remove %s=false to use those without", f.endpointsGivenBy, d.records(), f.By(insecureDiscovery))
	}
	if !d.insecure && f.ServerName == "" {
		f.ServerName, f.serverNameGivenBy = d.domain, f.By(insecureDiscovery)+"=false"
	}
	return notices, nil
}

// records are the names that are looked up.
func (d discovery) records() string {
	var names []string
	for _, scheme := range []string{"https", "http"} {
		names = append(names, fmt.Sprintf("_%s._tcp.%s", srv.GetSRVService("etcd-client", d.service, scheme), d.domain))
	}
	return strings.Join(names, " and ")
}
