//lint:file-ignore SA1019 Grafana 10 and 11 read only this schema.

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./hack/dashboards FOLDER")
		os.Exit(2)
	}
	if err := writeAll(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "dashboards:", err)
		os.Exit(1)
	}
}

// all returns the dashboards by the name of their file.
func all() map[string]*dashboard.DashboardBuilder {
	return map[string]*dashboard.DashboardBuilder{
		"etcd-benchmark-run.json":      oneRun(),
		"etcd-benchmark-history.json":  history(),
		"etcd-benchmark-operator.json": operator(),
	}
}

func writeAll(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	var problems []error
	for name, builder := range all() {
		problems = append(problems, write(filepath.Join(folder, name), builder))
	}
	return errors.Join(problems...)
}

func write(path string, builder *dashboard.DashboardBuilder) error {
	built, err := builder.Build()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	data, err := json.MarshalIndent(built, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}
