// Package process measures what this process got from its machine over an interval: processor time, throttling by its
// control group, delays of its goroutines and threads, and the cost of garbage collection.
//
// It imports results and the standard library, and reads files of /proc and of the control groups. Where these files
// are missing, as outside Linux, the figures are unknown. A figure that could not be read is absent and reported as
// unknown, never 0.
package process
