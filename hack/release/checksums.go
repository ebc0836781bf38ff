package main

import (
	"fmt"
	"os"
	"strings"
)

const checksumsName = "checksums.txt"

// writeChecksums writes the SHA-256 sums of all files of the release, as `sha256sum --check` reads them.
func (r release) writeChecksums() error {
	entries, err := os.ReadDir(r.output)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, entry := range entries { // in the order of their names
		sum, err := sumOf(r.path(entry.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%s  %s\n", sum, entry.Name())
	}
	return os.WriteFile(r.path(checksumsName), []byte(lines.String()), 0o644)
}
