// Package guard records what a change of structure must not change: the plans, requests, tables, JSON and metric families
// of each sample, the runs of each suite, and what admission says about a corpus of manifests.
//
// It has only tests, and may import everything. Without -update, a difference from testdata fails. The package is
// temporary.
//
// faults.txt has deliberate faults: blocks between lines of ====, and in each, between lines of --, a name, a file, a text
// in it, the text that replaces it, and the arguments of go test for the existing test that fails then.
//
//	go test ./cmd/kubectl-etcdbench/internal/guard -update
package guard
