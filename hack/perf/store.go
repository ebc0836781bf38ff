package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// record is what was measured of one contest.
type record struct {
	// Machine says where and when.
	Machine string `json:"machine"`
	// Commit says which code was measured; it is empty if that is not known.
	Commit string  `json:"commit,omitempty"`
	Rounds []round `json:"rounds"`
}

// records are kept in a file, by the contest's name, so that one contest can be
// held again.
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
