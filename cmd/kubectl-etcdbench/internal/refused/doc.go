// Package refused defines flags of other programs that a command knows and refuses.
//
// It imports pflag. Its one invariant: the error of a refused flag says what to do instead.
package refused
