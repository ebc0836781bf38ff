// Package process reads what this process had of its machine over a stretch of
// time: processor time, throttling by its control group, delays of its
// goroutines and threads, and what collecting garbage took.
//
// It imports results and the standard library, and reads files of /proc and of
// the control groups; where there are none, as outside Linux, all of that is
// unknown. Its one invariant: a figure that could not be read is absent and said
// to be, never 0.
package process
