package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

func TestTheImageArchiveHasBothPlatforms(t *testing.T) {
	r := packed(t)
	index, err := r.readImages()
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 2 {
		t.Errorf("wanted 2 images, found %v, %v", manifest, err)
	}
	for _, p := range []platform{{"linux", "amd64"}, {"linux", "arm64"}} {
		image, err := imageFor(index, p)
		if err != nil {
			t.Fatal(err)
		}
		checkImage(t, r, image, p)
	}
}

func TestDockerArchivesHaveTheSameImages(t *testing.T) {
	r := packed(t)
	index, err := r.readImages()
	if err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag("registry.example.org/team/operator:9.8.7-rc.1")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range imagePlatforms() {
		image, err := tarball.ImageFromPath(r.path(r.dockerName(p)), &tag)
		if err != nil {
			t.Fatal(err)
		}
		checkImage(t, r, image, p)
		same, err := imageFor(index, p)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := configOf(t, image), configOf(t, same); !cmp.Equal(a, b) {
			t.Errorf("the configurations differ: %s", cmp.Diff(a, b))
		}
	}
}

func configOf(t *testing.T, image v1.Image) *v1.ConfigFile {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// checkImage compares an image with the Dockerfile, and its files with the programs of its platform.
func checkImage(t *testing.T, r release, image v1.Image, p platform) {
	t.Helper()
	config := configOf(t, image)
	if config.OS != p.os || config.Architecture != p.arch || !config.Created.Equal(r.time) {
		t.Errorf("wanted %s of %s, found %s/%s of %s", p, r.time, config.OS, config.Architecture, config.Created)
	}
	dockerfile := string(readFile(t, "../../Dockerfile"))
	if user := regexp.MustCompile(`(?m)^USER (.+)$`).FindStringSubmatch(dockerfile); user == nil || config.Config.User != user[1] {
		t.Errorf("wanted the user of the Dockerfile, %q, found %s", user, config.Config.User)
	}
	if start := regexp.MustCompile(`(?m)^ENTRYPOINT \["(.+)"\]$`).FindStringSubmatch(dockerfile); start == nil || strings.Join(config.Config.Entrypoint, " ") != start[1] {
		t.Errorf("wanted the entrypoint of the Dockerfile, %q, found %s", start, config.Config.Entrypoint)
	}
	labels := map[string]string{
		"org.opencontainers.image.version": r.version, "org.opencontainers.image.revision": r.revision,
		"org.opencontainers.image.created": "2026-03-01T12:30:10Z",
	}
	for _, label := range regexp.MustCompile(`(org\.[a-z.]+)="(.+)"`).FindAllStringSubmatch(dockerfile, -1) {
		labels[label[1]] = label[2]
	}
	if !cmp.Equal(labels, config.Config.Labels) {
		t.Errorf("the labels differ from the Dockerfile and the release: %s", cmp.Diff(labels, config.Config.Labels))
	}
	checkPrograms(t, image, p)
}

func checkPrograms(t *testing.T, image v1.Image, p platform) {
	t.Helper()
	files, err := filesOf(image)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, f := range files {
		if f.mode.Perm() != 0o755 {
			t.Errorf("wanted mode 0755 of %s, found %s", f.name, f.mode)
		}
		found[f.name] = string(f.content)
	}
	want := map[string]string{"manager": "manager for " + p.String(), "loadgen": "loadgen for " + p.String()}
	if !cmp.Equal(want, found) {
		t.Errorf("the files differ: %s", cmp.Diff(want, found))
	}
}

// timesIn returns the times of the files in an archive. Other files have none.
func timesIn(name string, content []byte) (times []time.Time, err error) {
	var plain io.Reader = bytes.NewReader(content)
	switch {
	case strings.HasSuffix(name, ".zip"):
		r, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			return nil, err
		}
		for _, f := range r.File {
			times = append(times, f.Modified)
		}
		return times, nil
	case strings.HasSuffix(name, "gz"):
		if plain, err = gzip.NewReader(plain); err != nil {
			return nil, err
		}
	case !strings.HasSuffix(name, ".tar"):
		return nil, nil
	}
	for r := tar.NewReader(plain); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return times, nil
		}
		if err != nil {
			return nil, err
		}
		times = append(times, header.ModTime)
	}
}
