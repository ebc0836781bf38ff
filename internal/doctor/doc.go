// Package doctor says what is wrong with an etcd, from what its members reported about themselves. Nothing was sent to
// measure it.
//
// It is pure: no client, clock or logger. A check that a member's numbers cannot decide is undecided; it is never passed.
package doctor
