// Package members turns what the target's members said of themselves at the
// start, during and at the end of a window into what they did in it.
//
// It imports results and the standard library, and is pure: no context, clock
// or goroutine. Its one invariant: a figure is either a difference of two
// samples of the same process, or it is absent.
package members
