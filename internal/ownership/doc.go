// Package ownership claims the prefix of a run, shows that its pods live, and deletes the run's keys, on what a store can
// do (Store). Stores without transactions over several keys get these by Markers.
//
// It imports load for the contract of a driver, and no store. A key is deleted only while the run owns the prefix, no
// pod of the run may write, and the key is not newer than the last of them.
package ownership
