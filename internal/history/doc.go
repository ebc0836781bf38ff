// Package history decides what a schedule keeps of its sessions, and what the sessions say together: whether the last one
// is worse than those before, and where the numbers have changed. It imports no client and no clock.
package history
