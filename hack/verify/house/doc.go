// Package house tests the repository's rules that no linter knows: which package may import which, how long functions
// and files may be, that each package is documented, which files may name a workload or a store, that links in the
// documentation lead somewhere, and which words texts avoid.
//
// It may import the standard library, and the tables of workloads and stores.
package house
