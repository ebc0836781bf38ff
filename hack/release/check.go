package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// check reads the files of the release as their users do, and runs the programs that this machine can run.
func (r release) check(ctx context.Context) error {
	if err := r.checkKrew(); err != nil {
		return fmt.Errorf("checking krew's manifest: %w", err)
	}
	if err := r.checkPlugin(ctx); err != nil {
		return fmt.Errorf("checking the plugin's archive: %w", err)
	}
	if err := r.checkImages(ctx); err != nil {
		return fmt.Errorf("checking the image archive: %w", err)
	}
	return nil
}

// host is the platform of this machine.
func host() platform { return platform{runtime.GOOS, runtime.GOARCH} }

func (r release) checkPlugin(ctx context.Context) error {
	if !slices.Contains(pluginPlatforms(), host()) {
		fmt.Fprintf(r.progress, "release: the plugin was not run, because there is none for %s\n", host())
		return nil
	}
	files, err := r.readPlugins(host())
	if err != nil {
		return err
	}
	return r.runAll(ctx, files, map[string]string{host().program(plugin): "version"})
}

// checkImages checks each image, and runs the programs of the image for this machine.
func (r release) checkImages(ctx context.Context) error {
	index, err := r.readImages()
	if err != nil {
		return err
	}
	if err := validate.Index(index); err != nil {
		return err
	}
	for _, p := range imagePlatforms() {
		image, err := imageFor(index, p)
		if err != nil {
			return err
		}
		if p != host() {
			fmt.Fprintf(r.progress, "release: the programs in the image for %s were not run, because this machine is %s\n", p, host())
			continue
		}
		if err := r.runImage(ctx, image); err != nil {
			return err
		}
	}
	return nil
}

// readImages reads the index with the images of all platforms from the archive.
func (r release) readImages() (v1.ImageIndex, error) {
	archive, err := os.ReadFile(r.path(r.imageName()))
	if err != nil {
		return nil, err
	}
	files, err := untar(archive)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(r.work, "check", "layout")
	if err := unpack(files, dir); err != nil {
		return nil, err
	}
	top, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, err
	}
	manifest, err := top.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(manifest.Manifests) != 1 {
		return nil, fmt.Errorf("wanted one index in %s, found %d manifests", r.imageName(), len(manifest.Manifests))
	}
	return top.ImageIndex(manifest.Manifests[0].Digest)
}

// imageFor returns the image of a platform.
func imageFor(index v1.ImageIndex, p platform) (v1.Image, error) {
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	for _, m := range manifest.Manifests {
		if m.Platform != nil && m.Platform.OS == p.os && m.Platform.Architecture == p.arch {
			return index.Image(m.Digest)
		}
	}
	return nil, fmt.Errorf("wanted an image for %s, found none", p)
}

// runImage runs the programs of an image outside a container: they are static.
func (r release) runImage(ctx context.Context, image v1.Image) error {
	files, err := filesOf(image)
	if err != nil {
		return err
	}
	return r.runAll(ctx, files, map[string]string{"manager": "--version", "loadgen": "--version"})
}

// filesOf returns the files in the layers of an image.
func filesOf(image v1.Image) ([]file, error) {
	layers, err := image.Layers()
	if err != nil {
		return nil, err
	}
	var all []file
	for _, layer := range layers {
		content, err := layer.Uncompressed()
		if err != nil {
			return nil, err
		}
		archive, err := io.ReadAll(content)
		if err = errors.Join(err, content.Close()); err != nil {
			return nil, err
		}
		files, err := untar(archive)
		if err != nil {
			return nil, err
		}
		all = append(all, files...)
	}
	return all, nil
}

// runAll unpacks files and runs programs among them, each with one argument. Each must print the version of the release.
func (r release) runAll(ctx context.Context, files []file, programs map[string]string) error {
	dir := filepath.Join(r.work, "check", "programs")
	if err := unpack(files, dir); err != nil {
		return err
	}
	for program, argument := range programs {
		output, err := exec.CommandContext(ctx, filepath.Join(dir, program), argument).CombinedOutput()
		if err != nil || !strings.Contains(string(output), r.version) {
			return errors.Join(err, fmt.Errorf("wanted %s in the output of %s %s, found %q", r.version, program, argument, output))
		}
		fmt.Fprintf(r.progress, "release: %s %s prints %q\n", program, argument, strings.TrimSpace(string(output)))
	}
	return nil
}
