package main

import (
	"embed"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed config
var configFiles embed.FS

// render fills a file of config/. A value that is missing in values is an error.
func render(name string, values map[string]string) ([]byte, error) {
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	parsed, err := template.New(name).
		Funcs(template.FuncMap{"base64": encode}).
		Option("missingkey=error").
		ParseFS(configFiles, "config/"+name)
	if err != nil {
		return nil, err
	}
	var filled strings.Builder
	if err := parsed.Execute(&filled, values); err != nil {
		return nil, fmt.Errorf("rendering %s: %w", name, err)
	}
	return []byte(filled.String()), nil
}

// renderTo renders a file of config/ into path and creates its folder.
func renderTo(path, name string, values map[string]string) error {
	content, err := render(name, values)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}
