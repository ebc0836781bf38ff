// Package arrival says when the requests of an open-loop load are due.
//
// It is pure: it imports the standard library only, and reads no clock. Its
// one invariant: the n-th arrival depends on n and the rate alone, so no error
// adds up over a run, and the arrivals of all pods together are exactly those
// of one pod.
package arrival
