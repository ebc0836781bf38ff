// Command manager is the operator: it runs the controllers in a controller-runtime manager, with leader election,
// metrics and health probes.
//
// It is wiring only, and the one place on the operator's side that imports all packages. A second replica, or a
// restart, needs nothing but the API server.
package main
