// Package lines writes the progress of a run as JSON lines, for programs: one line per interval and per change of
// state, and the last line with the result.
//
// It imports the API and internal/benchmark, and writes to one stream. Every line is a whole JSON object, and only the
// line of a finished run has final.
package lines
