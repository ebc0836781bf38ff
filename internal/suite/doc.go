// Package suite decides which runs a suite has, in which order they run, and what their results say together. It is
// pure: all state is in the suite's status.
package suite
