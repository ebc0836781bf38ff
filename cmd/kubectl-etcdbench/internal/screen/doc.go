// Package screen shows the progress of a run or a suite to a person.
//
// It imports the API, internal/benchmark, internal/render and internal/suite, and writes to one stream. Its one
// invariant: its output is for people only; a result never passes through it.
package screen
