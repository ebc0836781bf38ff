// Package render writes a run's result for people and for other programs: as a table, and in formats of other tools.
//
// It is pure, and imports no client. It computes no number. An unknown number is shown as unknown, never as zero.
package render
