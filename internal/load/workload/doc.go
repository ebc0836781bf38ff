// Package workload says what each request of a load does: which operation, on
// which key or keys, with which value.
//
// It is pure: it imports the standard library and the two contracts, plan and
// results. Its one invariant: operation n is a function of the plan and n
// alone, so that the set of operations is the same for any number of pods and
// can be had again from the same seed.
package workload
