// Package admission does to an EtcdBenchmark what an API server does when it
// creates one: it rejects unknown fields, fills in defaults, and checks schema
// and CEL rules.
//
// It imports the API server's own libraries and the generated
// CustomResourceDefinition, and talks to no server. Its one invariant: what it
// admits or refuses, a cluster with this version's CustomResourceDefinition
// admits or refuses with the same words.
package admission
