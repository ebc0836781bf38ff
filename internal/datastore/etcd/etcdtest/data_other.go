//go:build !linux

package etcdtest

// memory returns an empty string: the folder for temporary files.
func memory() string { return "" }
