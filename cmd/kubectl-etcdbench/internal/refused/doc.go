// Package refused defines flags of other programs that a command knows and refuses.
//
// It imports pflag.
package refused
