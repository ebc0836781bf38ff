// Package lines writes how a run goes as JSON lines, for programs: one line per
// interval and per change of state, and the last with the result.
//
// It imports the API and internal/benchmark, and writes to one stream. Its one
// invariant: every line is a whole JSON object, and only that of a run that has
// finished says final.
package lines
