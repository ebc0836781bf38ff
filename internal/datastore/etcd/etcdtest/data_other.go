//go:build !linux

package etcdtest

// memory returns nothing, which is the folder for temporary files.
func memory() string { return "" }
