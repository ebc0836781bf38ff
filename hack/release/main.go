package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// operator is the operator's name, and that of its chart.
	operator = "etcd-benchmark-operator"
	// homepage is where the source code is published.
	homepage = "https://github.com/etcdbench/" + operator
	// defaultRepository is the image's name in values.yaml and in config/default.
	defaultRepository = "etcdbench.dev/" + operator
)

// release is one release, and where it is built.
type release struct {
	// root is the checkout. work receives temporary files, and output the files of the release.
	root, work, output string
	// version begins with v.
	version string
	// revision is the commit.
	revision string
	// time is the time of all files.
	time time.Time
	// repository is the image's name without tag, as a cluster pulls it.
	repository string
	// downloads is the address below which the plugin's archives are published.
	downloads string
	progress  io.Writer
}

// number is the version without v, as Helm and image tags have it.
func (r release) number() string { return strings.TrimPrefix(r.version, "v") }

func (r release) image() string { return r.repository + ":" + r.number() }

// path is the path of a file of the release.
func (r release) path(name string) string { return filepath.Join(r.output, name) }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, progress io.Writer) error {
	r, err := newRelease(ctx, args, progress)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(r.work); err != nil {
		return err
	}
	if err := os.MkdirAll(r.output, 0o755); err != nil {
		return err
	}
	if err := r.write(ctx); err != nil {
		return err
	}
	return r.publish()
}

// newRelease reads the flags and the state of the checkout, and refuses what cannot be released.
func newRelease(ctx context.Context, args []string, progress io.Writer) (release, error) {
	r := release{progress: progress}
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	version := flags.String("version", "", "the `VERSION` of the release, with v: v0.1.0")
	flags.StringVar(&r.repository, "repository", defaultRepository, "the image's `NAME` without tag, as clusters pull it; install.yaml and the chart contain it")
	flags.StringVar(&r.downloads, "downloads", homepage+"/releases/download", "the `URL` below which VERSION/FILE will be published; krew's manifest contains it")
	allowDirty := flags.Bool("allow-dirty", false, "also release files that are not committed; then the files do not depend on the commit alone")
	if err := flags.Parse(args); err != nil {
		return r, err
	}
	if flags.NArg() > 0 {
		return r, fmt.Errorf("wanted flags only, found %q", flags.Arg(0))
	}
	var err error
	if r.version, err = parseVersion(*version); err != nil {
		return r, err
	}
	return r.in(ctx, ".", *allowDirty)
}

// in sets the fields that depend on the checkout around a folder.
func (r release) in(ctx context.Context, dir string, allowDirty bool) (release, error) {
	root, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return r, err
	}
	r.root, r.work = root, filepath.Join(root, "bin", "release")
	r.output = filepath.Join(r.work, "dist")
	if err := checkToolchain(filepath.Join(root, "go.mod")); err != nil {
		return r, err
	}
	if !allowDirty {
		if err := checkClean(ctx, root); err != nil {
			return r, err
		}
	}
	if r.revision, err = git(ctx, root, "rev-parse", "HEAD"); err != nil {
		return r, err
	}
	r.time, err = releaseTime(ctx, root)
	return r, err
}

// write builds, writes and checks all files.
func (r release) write(ctx context.Context) error {
	if err := r.build(ctx); err != nil {
		return err
	}
	contents, err := r.contents()
	if err != nil {
		return err
	}
	if err := r.pack(ctx, contents); err != nil {
		return err
	}
	return r.check(ctx)
}

// pack writes the files of the release from what was built.
func (r release) pack(ctx context.Context, contents []binary) error {
	steps := []struct {
		what string
		do   func() error
	}{
		{"the plugin's archives", r.writePlugins},
		{"krew's manifest", r.writeKrew},
		{"the image archives", r.writeImages},
		{"the chart", func() error { return r.writeChart(ctx) }},
		{"install.yaml", r.writeInstall},
		{"the JSON Schemas", r.writeSchemas},
		{"the list of images", r.writeImageList},
		{"the software bill of materials", func() error { return r.writeBill(contents) }},
		{"the checksums", r.writeChecksums},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			return fmt.Errorf("writing %s: %w", step.what, err)
		}
	}
	return nil
}

// publish moves the complete files to dist.
func (r release) publish() error {
	dist := filepath.Join(r.root, "dist")
	if err := os.RemoveAll(dist); err != nil {
		return err
	}
	if err := os.Rename(r.output, dist); err != nil {
		return err
	}
	fmt.Fprintf(r.progress, "release: %s is in %s\n", r.version, dist)
	return os.RemoveAll(r.work)
}
