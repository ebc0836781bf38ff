// Package wiretest has the bare servers and certificates of tests of connections.
//
// It imports the standard library only. Its one invariant: it knows no protocol.
package wiretest
