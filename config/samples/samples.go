// Package samples carries the sample manifests into the plugin.
//
// It imports the standard library only.
package samples

import (
	"cmp"
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed etcdbenchmark_*.yaml suite_*.yaml published/*.yaml schedule_*.yaml networkpolicy.yaml
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
	err := fs.WalkDir(files, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := files.ReadFile(file)
		if err != nil {
			return err
		}
		base, isRun := strings.CutPrefix(strings.TrimSuffix(path.Base(file), ".yaml"), "etcdbenchmark_")
		s := Sample{Name: strings.ReplaceAll(base, "_", "-"), File: file, About: about(string(data)), Manifest: data}
		if isRun {
			runs = append(runs, s)
		} else {
			others = append(others, s)
		}
		return nil
	})
	slices.SortFunc(others, func(a, b Sample) int { return cmp.Compare(a.Name, b.Name) })
	return append(runs, others...), err
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
