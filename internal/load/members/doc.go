// Package members computes what the target's members did in a window from what they reported at its start, during it
// and at its end.
//
// It imports results and the standard library, and is pure: no context, clock or goroutine. A figure is either a
// difference of two samples of the same process, or it is absent.
package members
