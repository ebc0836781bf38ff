package prometheustest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Panel is one query of a dashboard's panel, with the variables not yet replaced.
type Panel struct{ Title, Query string }

// Choice is a variable of a dashboard: the values of a label.
type Choice struct{ Name, Selector, Label string }

// Dashboard has everything that a dashboard asks Prometheus for.
type Dashboard struct {
	File    string
	Choices []Choice
	Panels  []Panel
}

var labelValues = regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)

// Dashboards reads the dashboards of a folder.
func Dashboards(folder string) ([]Dashboard, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		return nil, errors.Join(err, fmt.Errorf("%s: wanted dashboards, found none", folder))
	}
	var all []Dashboard
	for _, file := range files {
		d, err := read(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, d)
	}
	return all, nil
}

func read(file string) (Dashboard, error) {
	var raw struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
		Templating struct {
			List []struct {
				Name, Type string
				Query      any
			}
		}
	}
	d := Dashboard{File: filepath.Base(file)}
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &raw)
	}
	if err != nil {
		return d, err
	}
	for _, v := range raw.Templating.List {
		if v.Type != "query" {
			continue
		}
		found := labelValues.FindStringSubmatch(fmt.Sprint(v.Query))
		if found == nil {
			return d, fmt.Errorf("variable %s: wanted label_values(SELECTOR, LABEL), found %v", v.Name, v.Query)
		}
		d.Choices = append(d.Choices, Choice{v.Name, found[1], found[2]})
	}
	for _, p := range raw.Panels {
		for _, target := range p.Targets {
			d.Panels = append(d.Panels, Panel{p.Title, target.Expr})
		}
	}
	return d, nil
}

// Fill replaces variables in a query.
func Fill(query string, variables map[string]string) string {
	for name, value := range variables {
		query = strings.ReplaceAll(query, "$"+name, value)
	}
	return query
}
