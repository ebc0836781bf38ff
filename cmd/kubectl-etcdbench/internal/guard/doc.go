// Package guard records what the tree does before it is rebuilt, so that a later
// tree can be compared with it: samples, plans, requests, results in every form,
// refusals, tests and faults. It goes when the rebuild is done.
//
// It may import everything. Its one invariant: what it records follows from
// fixed seeds alone, so that two records of one tree are equal.
package guard
