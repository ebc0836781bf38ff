package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/mod/sumdb/dirhash"
)

// ownImage is an image that is built for the cluster.
type ownImage struct {
	// folder is that below hack/images, and name the base name of the archive.
	folder, name, tag string
	// context is the folder that the Dockerfile copies from, and files what it copies.
	context string
	files   []string
	// args are further arguments of the build.
	args []string
}

func ownImages(l layout) []ownImage {
	tools := filepath.Dir(l.tool("etcd"))
	return []ownImage{
		{folder: "pause", name: "pause", tag: pauseImage, context: l.path("images", "pause"), files: []string{"pause"}},
		{folder: "coredns", name: "coredns", tag: coreDNSImage, context: tools, files: []string{"coredns"}},
		{folder: "etcd", name: "etcd", tag: etcdImage, context: tools, files: []string{"etcd", "etcdctl"}},
		{folder: "etcd", name: "etcd-3.6", tag: etcd36Image, context: tools, files: []string{"etcd-3.6", "etcdctl"}, args: []string{"--build-arg=ETCD=etcd-3.6"}},
	}
}

// buildOwnImages builds the archives of images whose content changed.
func buildOwnImages(ctx context.Context, l layout) error {
	if err := buildPause(ctx, l); err != nil {
		return err
	}
	for _, image := range ownImages(l) {
		dockerfile := filepath.Join(l.checkout, "hack", "images", image.folder, "Dockerfile")
		inputs := []string{dockerfile}
		for _, file := range image.files {
			inputs = append(inputs, filepath.Join(image.context, file))
		}
		digest, err := digestOf(image.tag, inputs)
		if err != nil {
			return err
		}
		if recorded, err := os.ReadFile(image.digestFile(l)); err == nil && string(recorded) == digest {
			continue
		}
		if err := buildArchive(ctx, l, dockerfile, image.tag, image.context, image.archive(l), image.args...); err != nil {
			return err
		}
		if err := os.WriteFile(image.digestFile(l), []byte(digest), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (i ownImage) archive(l layout) string    { return l.path("images", i.name+".tar") }
func (i ownImage) digestFile(l layout) string { return l.path("images", i.name+".digest") }

// loadOwnImages imports them into the cluster's containerd.
func loadOwnImages(ctx context.Context, l layout) error {
	for _, image := range ownImages(l) {
		if err := loadArchive(ctx, image.archive(l)); err != nil {
			return err
		}
	}
	return nil
}

// buildPause compiles the sandbox program into its image's context.
func buildPause(ctx context.Context, l layout) error {
	target := l.path("images", "pause", "pause")
	cmd := goCommand(ctx, l, "build", "-trimpath", "-ldflags", "-s -w", "-o", target, "./hack/images/pause")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building the pause program: %w\n%s", err, output)
	}
	return nil
}

// buildArchive builds a Dockerfile with buildah and writes the image, named tag, to a docker archive. vfs and chroot
// need no kernel feature, and layers would not help with images of one static binary.
func buildArchive(ctx context.Context, l layout, dockerfile, tag, contextDir, archive string, more ...string) error {
	if err := os.MkdirAll(filepath.Dir(archive), 0o755); err != nil {
		return err
	}
	// A separate store, which is removed afterwards: the image remains in the archive, and builds can run concurrently.
	store, err := os.MkdirTemp(l.path(), "buildah-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(store) }()
	buildah := func(args ...string) error {
		_, err := run(ctx, "buildah", append([]string{
			"--root=" + filepath.Join(store, "root"), "--runroot=" + filepath.Join(store, "run"), "--storage-driver=vfs",
		}, args...)...)
		return err
	}
	args := append([]string{"bud", "--isolation=chroot", "--pull-never", "--file=" + dockerfile, "--tag=" + tag}, more...)
	if err := buildah(append(args, contextDir)...); err != nil {
		return err
	}
	next := archive + ".new"
	if err := removeIfExists(next); err != nil { // an archive is never appended to
		return err
	}
	if err := buildah("push", tag, "docker-archive:"+next+":"+tag); err != nil {
		return err
	}
	return os.Rename(next, archive)
}

// loadArchive imports an image archive, OCI or docker.
func loadArchive(ctx context.Context, archive string) error {
	if _, err := os.Stat(archive); err != nil {
		return fmt.Errorf("the image archive cannot be read: %w", err)
	}
	_, err := ctr(ctx, "images", "import", archive)
	return err
}

// loadImageCommand is `load-image ARCHIVE`.
func loadImageCommand(ctx context.Context, l layout, args []string) error {
	if len(args) != 1 {
		return errors.New("usage: load-image ARCHIVE")
	}
	if _, err := requireCluster(l); err != nil {
		return err
	}
	return loadArchive(ctx, args[0])
}

// buildImageCommand is `build-image -f FILE -t TAG CONTEXT`: build, then load.
func buildImageCommand(ctx context.Context, l layout, args []string) error {
	flags := flag.NewFlagSet("build-image", flag.ContinueOnError)
	dockerfile := flags.String("f", "Dockerfile", "the Dockerfile")
	tag := flags.String("t", "", "the image's name, with a host and a tag: example.org/name:tag")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *tag == "" || flags.NArg() != 1 {
		return errors.New("usage: build-image -f FILE -t TAG CONTEXT")
	}
	if _, err := requireCluster(l); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(l.path(), "image-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	archive := filepath.Join(dir, "image.tar")
	if err := buildArchive(ctx, l, *dockerfile, *tag, flags.Arg(0), archive); err != nil {
		return err
	}
	return loadArchive(ctx, archive)
}

// digestOf identifies an image by its name and the content of its inputs.
func digestOf(tag string, files []string) (string, error) {
	digest, err := dirhash.Hash1(files, func(name string) (io.ReadCloser, error) { return os.Open(name) })
	return tag + " " + digest, err
}
