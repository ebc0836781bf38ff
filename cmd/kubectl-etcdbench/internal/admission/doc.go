// Package admission treats an EtcdBenchmark as an API server does on creation: it rejects unknown fields, sets
// defaults, and checks schema and CEL rules.
//
// It imports the API server's own libraries and the generated CustomResourceDefinition, and talks to no server. Its one
// invariant: it admits and refuses the same objects, with the same words, as a cluster with this version's
// CustomResourceDefinition.
package admission
