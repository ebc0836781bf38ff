//go:build !linux

package main

func askForShortTimeslices() {}
