// Package compare judges whether a candidate is worse than a baseline. Its unit is the run: each run gives one number
// per metric, and a round has one run of each side. It is pure.
package compare
