// Package consultest starts Consul for tests: bin/tools/consul, which `make tools-consul` builds.
//
// It imports the standard library. Its one invariant: no server outlives the test that started it.
package consultest
