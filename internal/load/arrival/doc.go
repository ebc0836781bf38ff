// Package arrival computes when the requests of an open-loop load are due.
//
// It is pure: it imports the standard library only, and reads no clock. The due time of an arrival depends only on its
// number, the schedule and the seed. It is exact to the nanosecond, so that no error adds up over a run. The evenly
// spaced arrivals of all pods together equal those of one pod.
package arrival
