// Package consultest starts Consul for tests: bin/tools/consul, which `make tools-consul` builds.
//
// It imports the standard library.
package consultest
