// Package trials measures on a real etcd how often comparisons and searches are right. Its tests take long and need an
// idle machine, so they run by hand: make trials.
package trials
