// Package text writes numbers, and texts from outside the program, for people.
//
// It imports the standard library and package spec. Rounding never moves a number across a limit.
package text
