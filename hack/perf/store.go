package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// record has the measurements of one comparison.
type record struct {
	// Machine describes the machine and the time.
	Machine string `json:"machine"`
	// Commit is the measured commit; empty if unknown.
	Commit string  `json:"commit,omitempty"`
	Rounds []round `json:"rounds"`
}

// records are kept in a file, by the comparison's name, so that a single comparison can be repeated.
type records map[string]record

func readRecords(path string) (records, error) {
	all := records{}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	return all, err
}

func (r records) write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
