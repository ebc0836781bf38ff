//go:build browser

package report

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Pages for hack/verify/pages, which looks at them in Chromium.
func TestPagesForChromium(t *testing.T) {
	const folder = "../../../../out/pages"
	all := documents(t)
	for name, d := range hostile(t) {
		all["hostile "+name] = d
	}
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755)); err != nil {
		t.Fatal(err)
	}
	for name, d := range all {
		file := filepath.Join(folder, strings.ReplaceAll(name, " ", "-")+".html")
		if err := os.WriteFile(file, []byte(pageOf(t, d)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
