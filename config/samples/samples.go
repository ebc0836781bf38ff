// Package samples carries the sample manifests into the plugin.
//
// It imports the standard library only.
package samples

import (
	"embed"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed etcdbenchmark_*.yaml suite_*.yaml schedule_*.yaml networkpolicy.yaml advanced/*_*.yaml published/*_*.yaml
var files embed.FS

// Sample is one manifest.
type Sample struct {
	// Name is that of the file, without the kind of a run and the ending: put, suite-etcd-page.
	Name string
	// File is the name of the file in config/samples.
	File string
	// About is the first sentence of the comment at the top: what the sample is for.
	About string
	// Manifest is the whole file.
	Manifest []byte
}

// All returns the samples: runs first, then suites and the others, each by name.
func All() ([]Sample, error) {
	var runs, others []Sample
	names, err := fs.Glob(files, "*.yaml")
	special, errSpecial := fs.Glob(files, "*/*.yaml")
	if err := errors.Join(err, errSpecial); err != nil {
		return nil, err
	}
	names = append(names, special...)
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(path.Base(a), path.Base(b)) })
	for _, file := range names {
		data, err := files.ReadFile(file)
		if err != nil {
			return nil, err
		}
		base, isRun := strings.CutPrefix(strings.TrimSuffix(path.Base(file), ".yaml"), "etcdbenchmark_")
		s := Sample{Name: strings.ReplaceAll(base, "_", "-"), File: file, About: about(string(data)), Manifest: data}
		if isRun {
			runs = append(runs, s)
		} else {
			others = append(others, s)
		}
	}
	return append(runs, others...), nil
}

// about returns the first sentence of the comment at the top.
func about(manifest string) string {
	var words []string
	for line := range strings.Lines(manifest) {
		comment, found := strings.CutPrefix(line, "#")
		if !found || strings.TrimSpace(comment) == "" || strings.HasPrefix(comment, "   ") {
			break
		}
		words = append(words, strings.TrimSpace(comment))
	}
	text := strings.Join(words, " ")
	if sentence, _, found := strings.Cut(text, ". "); found {
		text = sentence
	}
	return strings.TrimRight(text, ".:")
}
