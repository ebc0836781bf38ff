package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// imageConfig is what the Dockerfile sets, and the time. A test compares them.
func (r release) imageConfig() v1.Config {
	return v1.Config{
		User:       "65532:65532",
		Entrypoint: []string{"/manager"},
		Labels: map[string]string{
			"org.opencontainers.image.title":         operator,
			"org.opencontainers.image.description":   "Runs etcd benchmarks as Kubernetes custom resources",
			"org.opencontainers.image.source":        homepage,
			"org.opencontainers.image.url":           homepage,
			"org.opencontainers.image.documentation": homepage + "/tree/main/docs",
			"org.opencontainers.image.licenses":      "Apache-2.0",
			"org.opencontainers.image.version":       r.version,
			"org.opencontainers.image.revision":      r.revision,
			"org.opencontainers.image.created":       r.time.Format(time.RFC3339),
		},
	}
}

// imageName is the file name of the archive with the images of all platforms.
func (r release) imageName() string { return operator + "_" + r.version + "_image_oci.tar" }

// dockerName is the file name of the archive that `docker load` reads.
func (r release) dockerName(p platform) string {
	return operator + "_" + r.version + "_image_" + p.os + "_" + p.arch + "_docker.tar"
}

// writeImages writes an OCI archive with the images of all platforms, and for each platform an archive for
// `docker load`.
func (r release) writeImages() error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range imagePlatforms() {
		image, err := r.newImage(p)
		if err != nil {
			return err
		}
		if err := r.writeDocker(p, image); err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.os, Architecture: p.arch}},
		})
	}
	return r.writeLayout(index)
}

// newImage returns the image of a platform: one layer with the programs.
func (r release) newImage(p platform) (v1.Image, error) {
	layer, err := r.newLayer(p)
	if err != nil {
		return nil, err
	}
	config := &v1.ConfigFile{
		OS: p.os, Architecture: p.arch, Created: v1.Time{Time: r.time}, Config: r.imageConfig(), RootFS: v1.RootFS{Type: "layers"},
	}
	image, err := mutate.ConfigFile(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), config)
	if err != nil {
		return nil, err
	}
	return mutate.Append(image, mutate.Addendum{
		Layer: layer, MediaType: types.OCILayer, History: v1.History{Created: v1.Time{Time: r.time}, CreatedBy: "hack/release"},
	})
}

func (r release) newLayer(p platform) (v1.Layer, error) {
	var files []file
	for _, name := range imagePrograms() {
		content, err := os.ReadFile(r.binaryPath(p, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, 0o755, content})
	}
	compressed, err := tarGzOf(files, r.time)
	if err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(compressed)), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
}

func (r release) writeDocker(p platform, image v1.Image) error {
	tag, err := name.NewTag(r.image())
	if err != nil {
		return err
	}
	return tarball.WriteToFile(r.path(r.dockerName(p)), tag, image)
}

// writeLayout writes an index as an archive. The two annotations name it for skopeo and for containerd.
func (r release) writeLayout(index v1.ImageIndex) error {
	dir := filepath.Join(r.work, "layout")
	images, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	names := layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": r.number(),
		"io.containerd.image.name":          r.image(),
	})
	if err := images.AppendIndex(index, names); err != nil {
		return err
	}
	files, err := filesBelow(dir, "")
	if err != nil {
		return err
	}
	archive, err := tarOf(files, r.time)
	if err != nil {
		return err
	}
	return os.WriteFile(r.path(r.imageName()), archive, 0o644)
}
