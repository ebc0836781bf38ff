package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The files that are read and written.
const (
	suitesFolder  = "config/samples/published"
	resultsFolder = "out/published"
	storesResult  = "out/stores.json"
	documentFile  = "docs/published.md"
	pageFile      = "out/published.html"
)

func main() {
	level := flag.String("level", "quick", "quick: every row with small totals; all: the totals of the suites; none: only write the tables again")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "Usage: published [-level quick|all|none] [SUITE…]\n\nRuns the named suites, or all, and writes the tables of all.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := publish(*level, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "published:", err)
		os.Exit(1)
	}
}

func publish(level string, names []string) error {
	if err := os.MkdirAll(resultsFolder, 0o755); err != nil {
		return err
	}
	switch level {
	case "quick", "all":
		if err := runAll(level == "quick", names); err != nil {
			return err
		}
	case "none":
	default:
		return fmt.Errorf("-level: wanted quick, all or none, found %q", level)
	}
	m, err := readResults(resultsFolder, storesResult)
	if err != nil {
		return err
	}
	tables := tablesOf(m)
	page, err := pageOf(m, tables)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(documentFile, []byte(markdown(m, tables)), 0o644), os.WriteFile(pageFile, page, 0o644))
}

// readResults reads what runs have left in a folder, and the result of the suite of stores.
func readResults(folder, stores string) (measured, error) {
	m := newMeasured()
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		return m, err
	}
	for _, file := range append(files, stores) {
		data, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			m.why[storesSuite] = "out/stores.json is missing: make stores writes it"
			continue
		}
		if err != nil {
			return m, err
		}
		name, ending := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), filepath.Ext(file)
		if ending == failedEnding {
			m.why[name] = strings.TrimSpace(string(data))
			continue
		}
		if err := m.add(name, data); err != nil {
			return m, fmt.Errorf("%s: %w", file, err)
		}
	}
	return m, nil
}
