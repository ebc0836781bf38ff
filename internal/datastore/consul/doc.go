// Package consul is the driver of Consul's key-value store, over its HTTP API.
//
// It imports load for the contract, plan for what to do, ownership for the prefix of a run, remote and secrets for what
// drivers share, and the standard library. It deletes keys by their names, each in a transaction that
// checks the run's marker, or at a known index.
package consul
