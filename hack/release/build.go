package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// plugin is the name of the kubectl plugin's program.
const plugin = "kubectl-etcdbench"

// platform is an operating system and a processor, in Go's names.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// program is the file name of a program on the platform.
func (p platform) program(name string) string {
	if p.os == "windows" {
		return name + ".exe"
	}
	return name
}

// pluginPlatforms are the platforms with an archive of the plugin.
func pluginPlatforms() []platform {
	var all []platform
	for _, os := range []string{"darwin", "linux", "windows"} {
		all = append(all, platform{os, "amd64"}, platform{os, "arm64"})
	}
	return all
}

// imagePlatforms are the platforms of the image.
func imagePlatforms() []platform { return []platform{{"linux", "amd64"}, {"linux", "arm64"}} }

// imagePrograms are the programs in the image, in the order of the Dockerfile.
func imagePrograms() []string { return []string{"manager", "loadgen"} }

// programsOf returns the programs that a release has for a platform.
func programsOf(p platform) []string {
	if slices.Contains(imagePlatforms(), p) {
		return append(imagePrograms(), plugin)
	}
	return []string{plugin}
}

// binary is a built program, and what the Go toolchain recorded in it.
type binary struct {
	name string
	info *buildinfo.BuildInfo
}

// binaryPath is where build puts a program.
func (r release) binaryPath(p platform, name string) string {
	return filepath.Join(r.work, "binaries", p.os+"_"+p.arch, p.program(name))
}

// build compiles the programs for all platforms.
func (r release) build(ctx context.Context) error {
	for _, p := range pluginPlatforms() {
		start := time.Now()
		if err := r.buildFor(ctx, p); err != nil {
			return err
		}
		fmt.Fprintf(r.progress, "release: built %s in %s\n", p, time.Since(start).Round(time.Second))
	}
	return nil
}

func (r release) buildFor(ctx context.Context, p platform) error {
	args := []string{
		"build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid= -X main.version=" + r.version,
		"-o", filepath.Dir(r.binaryPath(p, plugin)) + string(filepath.Separator),
	}
	for _, name := range programsOf(p) {
		args = append(args, "./cmd/"+name)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = r.root
	// Settings of the user that change binaries are replaced.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building for %s: %w\n%s", p, err, output)
	}
	return nil
}

// contents reads from each binary which modules it was built from.
func (r release) contents() ([]binary, error) {
	var all []binary
	for _, p := range pluginPlatforms() {
		for _, name := range programsOf(p) {
			info, err := buildinfo.ReadFile(r.binaryPath(p, name))
			if err != nil {
				return nil, err
			}
			all = append(all, binary{name: name, info: info})
		}
	}
	return all, nil
}
