// Package search finds the highest rate of an open loop that meets the objectives of a run. It is pure: it says which
// probe comes next, given the results of the probes so far.
package search
