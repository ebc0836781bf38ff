// Package arrival says when the requests of an open-loop load are due.
//
// It is pure: it imports the standard library only, and reads no clock. Its
// one invariant: when an arrival is due depends on its number, the schedule and
// the seed alone, and is exact to the nanosecond, so that no error adds up over
// a run; and the evenly spaced arrivals of all pods together are those of one
// pod.
package arrival
