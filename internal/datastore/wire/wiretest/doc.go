// Package wiretest has simple servers and certificates for tests of connections.
//
// It imports the standard library only. Its one invariant: it knows no protocol.
package wiretest
