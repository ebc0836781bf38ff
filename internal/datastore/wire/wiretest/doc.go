// Package wiretest has simple servers and certificates for tests of connections.
//
// It imports the standard library only.
package wiretest
