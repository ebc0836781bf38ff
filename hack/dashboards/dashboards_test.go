//lint:file-ignore SA1019 Grafana 10 and 11 read only this schema.

package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

const committed = "../../charts/etcd-benchmark-operator/generated/dashboards"

// Each file is a dashboard as Grafana's SDK defines it, without a field that it does not know.
func TestDashboardsAreStrictlyValid(t *testing.T) {
	plugins.RegisterDefaultPlugins()
	for name := range all() {
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join(committed, name))
			if err != nil {
				t.Fatal(err)
			}
			var d dashboard.Dashboard
			if err := strictly(&d, raw); err != nil {
				t.Fatal(err)
			}
			if err := d.Validate(); err != nil {
				t.Error(err)
			}
			unknown := strings.Replace(string(raw), `"title":`, `"titel": "", "title":`, 1)
			if strictly(&dashboard.Dashboard{}, []byte(unknown)) == nil {
				t.Error("a field that Grafana does not know was accepted")
			}
			checkPanels(t, d)
		})
	}
}

// strictly reads a dashboard. If there is no problem, the SDK returns an empty list of them as the error.
func strictly(d *dashboard.Dashboard, raw []byte) error {
	err := d.UnmarshalJSONStrict(raw)
	if problems, ok := errors.AsType[cog.BuildErrors](err); ok && len(problems) == 0 {
		return nil
	}
	return err
}

// checkPanels requires that each panel can be understood, and that it queries the data source of the reader's choice.
func checkPanels(t *testing.T, d dashboard.Dashboard) {
	t.Helper()
	if d.Uid == nil || *d.Uid == "" || len(d.Panels) < 8 {
		t.Errorf("found %d panels and the UID %v", len(d.Panels), d.Uid)
	}
	for _, p := range d.Panels {
		if p.Panel == nil || p.Panel.Type == "text" {
			continue
		}
		title := *p.Panel.Title
		if p.Panel.Description == nil || len(*p.Panel.Description) < 10 || len(p.Panel.Targets) == 0 {
			t.Errorf("%s: wanted a description and a query", title)
		}
		raw, err := json.Marshal(p.Panel)
		if err != nil {
			t.Fatal(err)
		}
		if all, chosen := strings.Count(string(raw), `"datasource":`), strings.Count(string(raw), `"uid":"${datasource}"`); all != chosen {
			t.Errorf("%s: %d of %d data sources are the one of the variable", title, chosen, all)
		}
	}
}

// The committed files are those that this package writes.
func TestCommittedDashboardsAreCurrent(t *testing.T) {
	folder := t.TempDir()
	if err := writeAll(folder); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(committed, "*"))
	if err != nil || len(files) != len(all()) {
		t.Errorf("wanted %d files, found %v: %v", len(all()), files, err)
	}
	for name := range all() {
		want, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(committed, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is out of date, run `make manifests` (-wanted +found):\n%s", name, diff)
		}
	}
}
