// Package ownershiptest has the cases of ownership and of the lock that every real store passes.
//
// It imports ownership and no store.
package ownershiptest
