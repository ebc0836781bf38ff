// Package screen shows the progress of a run to the person who waits for it.
//
// It imports the API and internal/benchmark, and writes to one stream. Its one
// invariant: what it writes is for people only; the result of a run never
// passes through it.
package screen
