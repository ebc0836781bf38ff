package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

const (
	// krewPlugin is the plugin's name in krew, and so the name of its manifest.
	krewPlugin = "etcdbench"
	krewName   = krewPlugin + ".yaml"
)

// krewManifest describes a plugin to krew (https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest).
type krewManifest struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   krewMeta `json:"metadata"`
	Spec       krewSpec `json:"spec"`
}

type krewMeta struct {
	Name string `json:"name"`
}

type krewSpec struct {
	Version          string         `json:"version"`
	Homepage         string         `json:"homepage"`
	ShortDescription string         `json:"shortDescription"`
	Description      string         `json:"description"`
	Platforms        []krewPlatform `json:"platforms"`
}

type krewPlatform struct {
	Selector krewSelector `json:"selector"`
	URI      string       `json:"uri"`
	SHA256   string       `json:"sha256"`
	Bin      string       `json:"bin"`
}

type krewSelector struct {
	MatchLabels map[string]string `json:"matchLabels"`
}

// writeKrew writes krew's manifest for the archives that were written.
func (r release) writeKrew() error {
	manifest, err := r.newKrew()
	if err != nil {
		return err
	}
	content, err := yaml.Marshal(manifest)
	if err != nil {
		return err
	}
	return os.WriteFile(r.path(krewName), content, 0o644)
}

func (r release) newKrew() (krewManifest, error) {
	manifest := krewManifest{
		APIVersion: "krew.googlecontainertools.github.com/v1alpha2",
		Kind:       "Plugin",
		Metadata:   krewMeta{Name: krewPlugin},
		Spec: krewSpec{
			Version:          r.version,
			Homepage:         homepage,
			ShortDescription: "Benchmark etcd and compare the results",
			Description: "Runs benchmarks of etcd, from this machine or with client pods of\n" +
				"etcd-benchmark-operator in a cluster. Prints the result of a run, and judges\n" +
				"it by your limits. Compares runs, and finds the highest rate that an etcd serves.\n",
		},
	}
	for _, p := range pluginPlatforms() {
		sum, err := sumOf(r.path(r.archiveName(p)))
		if err != nil {
			return manifest, err
		}
		manifest.Spec.Platforms = append(manifest.Spec.Platforms, krewPlatform{
			Selector: krewSelector{MatchLabels: map[string]string{"os": p.os, "arch": p.arch}},
			URI:      strings.TrimRight(r.downloads, "/") + "/" + r.version + "/" + r.archiveName(p),
			SHA256:   sum,
			Bin:      p.program(plugin),
		})
	}
	return manifest, nil
}

// checkKrew reads the manifest as krew does. It checks krew's rules, and that each archive has the checksum and the
// program that the manifest names.
func (r release) checkKrew() error {
	content, err := os.ReadFile(r.path(krewName))
	if err != nil {
		return err
	}
	var manifest krewManifest
	if err := yaml.UnmarshalStrict(content, &manifest); err != nil {
		return err
	}
	problems := manifest.problems()
	for i, p := range pluginPlatforms() {
		if i >= len(manifest.Spec.Platforms) {
			problems = append(problems, fmt.Errorf("wanted a platform for %s, found none", p))
			continue
		}
		problems = append(problems, r.checkPlatform(manifest.Spec.Platforms[i], p))
	}
	return errors.Join(problems...)
}

// problems returns what krew's own rules refuse.
func (m krewManifest) problems() []error {
	var problems []error
	rule := func(ok bool, wanted string, found any) {
		if !ok {
			problems = append(problems, fmt.Errorf("krew: wanted %s, found %q", wanted, found))
		}
	}
	rule(m.APIVersion == "krew.googlecontainertools.github.com/v1alpha2", "krew's apiVersion", m.APIVersion)
	rule(m.Kind == "Plugin", "kind Plugin", m.Kind)
	rule(regexp.MustCompile(`^[\w-]+$`).MatchString(m.Metadata.Name), "a name of letters, digits, _ and -", m.Metadata.Name)
	_, err := parseVersion(m.Spec.Version)
	rule(err == nil, "a semantic version with v", m.Spec.Version)
	rule(m.Spec.ShortDescription != "" && !strings.ContainsAny(m.Spec.ShortDescription, "\r\n"), "a short description in one line", m.Spec.ShortDescription)
	rule(len(m.Spec.Platforms) > 0, "platforms", m.Spec.Platforms)
	for _, p := range m.Spec.Platforms {
		rule(strings.HasPrefix(p.URI, "https://"), "an https address", p.URI)
		rule(regexp.MustCompile(`^[a-f0-9]{64}$`).MatchString(p.SHA256), "a SHA-256 sum", p.SHA256)
		rule(p.Bin != "", "the path of the program", p.Bin)
		rule(len(p.Selector.MatchLabels) == 2 && p.Selector.MatchLabels["os"] != "" && p.Selector.MatchLabels["arch"] != "", "the labels os and arch", p.Selector.MatchLabels)
	}
	return problems
}

func (r release) checkPlatform(of krewPlatform, p platform) error {
	if of.Selector.MatchLabels["os"] != p.os || of.Selector.MatchLabels["arch"] != p.arch {
		return fmt.Errorf("wanted the platform %s, found %v", p, of.Selector.MatchLabels)
	}
	if !strings.HasSuffix(of.URI, "/"+r.version+"/"+r.archiveName(p)) {
		return fmt.Errorf("wanted the address of %s, found %s", r.archiveName(p), of.URI)
	}
	if sum, err := sumOf(r.path(r.archiveName(p))); err != nil || sum != of.SHA256 {
		return errors.Join(err, fmt.Errorf("wanted the checksum %s of %s, found %s", sum, r.archiveName(p), of.SHA256))
	}
	files, err := r.readPlugins(p)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(files, func(f file) bool { return f.name == of.Bin && f.mode.Perm()&0o111 != 0 }) {
		return fmt.Errorf("wanted an executable %s in %s, found none", of.Bin, r.archiveName(p))
	}
	return nil
}

// sumOf returns the SHA-256 sum of a file.
func sumOf(path string) (string, error) {
	content, err := os.ReadFile(path)
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), err
}
