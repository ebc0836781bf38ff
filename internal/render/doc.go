// Package render writes a run's result for people and for other programs: as a
// table, and in the forms that other tools read.
//
// It is pure, and imports no client. Its one invariant: it computes no number. What
// is not known is written as such, never as zero.
package render
