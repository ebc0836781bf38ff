// Package workload defines the requests of a run: the operation, the key or keys, and the value of each. It also
// derives what follows from them: what is preloaded, how much the store grows, and which leases belong to the run. Each
// type of workload has its own file; table.go lists all of them.
//
// It is pure: it imports the standard library and spec. Operation n depends only on the run and n. So the set of
// operations is the same for any number of pods, and the same seed reproduces it.
package workload
