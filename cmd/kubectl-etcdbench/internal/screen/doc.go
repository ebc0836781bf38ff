// Package screen shows the progress of a run to a person.
//
// It imports the API, internal/benchmark and internal/render, and writes to one stream. Its one invariant: its output
// is for people only; the result of a run never passes through it.
package screen
