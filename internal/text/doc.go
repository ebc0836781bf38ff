// Package text writes numbers and what others said for people.
//
// It imports the standard library and package spec. Its one invariant: a number
// that is shown is never beyond a limit that the number itself does not reach.
package text
