//go:build !darwin

package process

import "os"

// systemProcessor returns the model of the processors as Windows has it in the environment; empty if it is not known.
func systemProcessor() string { return os.Getenv("PROCESSOR_IDENTIFIER") }
