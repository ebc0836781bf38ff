// Package house holds, as tests, the rules of the repository that no linter
// knows: which package may import which, how long functions and files may be,
// that each package says what it is for, which files may name a workload or a store,
// and that links in the documentation lead somewhere.
//
// It may import the standard library, and the tables of workloads and stores. Its one invariant: every rule has a
// test that shows it being broken.
package house
