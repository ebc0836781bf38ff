//go:build !linux

package tuning

func askForShortTimeslices() {}
