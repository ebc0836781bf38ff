package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// chartName is the file name that Helm gives to the chart's package.
func (r release) chartName() string { return operator + "-" + r.number() + ".tgz" }

// writeChart packages the chart with Helm, which checks it. The package is then written again, because Helm takes over
// the times of the files in the checkout.
func (r release) writeChart(ctx context.Context) error {
	staged := filepath.Join(r.work, "chart")
	if err := r.stageChart(staged); err != nil {
		return err
	}
	helm := filepath.Join(r.root, "bin", "tools", "helm")
	cmd := exec.CommandContext(ctx, helm, "package", staged, "--version", r.number(), "--app-version", r.number(), "--destination", r.work)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("helm package; go run ./hack/tools helm builds Helm: %w\n%s", err, output)
	}
	packaged, err := os.ReadFile(filepath.Join(r.work, r.chartName()))
	if err != nil {
		return err
	}
	files, err := untar(packaged)
	if err != nil {
		return err
	}
	for i := range files {
		files[i].mode = 0o644
	}
	archive, err := tarGzOf(files, r.time)
	if err != nil {
		return err
	}
	return os.WriteFile(r.path(r.chartName()), archive, 0o644)
}

// stageChart copies the chart, and sets the image's name in its values.
func (r release) stageChart(dir string) error {
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(r.root, "charts", operator))); err != nil {
		return err
	}
	values := filepath.Join(dir, "values.yaml")
	content, err := os.ReadFile(values)
	if err != nil {
		return err
	}
	before, after := []byte("repository: "+defaultRepository+"\n"), []byte("repository: "+r.repository+"\n")
	if found := bytes.Count(content, before); found != 1 {
		return fmt.Errorf("wanted one line %q in values.yaml, found %d", bytes.TrimSpace(before), found)
	}
	return os.WriteFile(values, bytes.Replace(content, before, after, 1), 0o644)
}
