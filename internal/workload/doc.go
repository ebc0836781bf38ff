// Package workload says what each request of a run does: which operation, on
// which key or keys, with which value; and what follows from that: what is
// written before the load, how much the store grows, which leases are the run's.
// One file has one type of workload; table.go has all of them.
//
// It is pure: it imports the standard library and spec. Its one invariant:
// operation n is a function of the run and n alone, so that the set of operations
// is the same for any number of pods and can be had again from the same seed.
package workload
