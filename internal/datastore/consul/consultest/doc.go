// Package consultest starts Consul for tests: bin/tools/consul, which `make tools-consul` builds.
//
// It imports faulttest and the standard library.
package consultest
