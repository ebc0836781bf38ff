package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEachFileTakesOneForm(t *testing.T) {
	folder := t.TempDir()
	out, other, link := filepath.Join(folder, "out"), filepath.Join(folder, "other"), filepath.Join(folder, "link")
	for _, path := range []string{out, other} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(out, link); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		outputs []string
		refused bool
	}{
		"two files":         {[]string{"json=" + out, "yaml=" + other}, false},
		"one file":          {[]string{"json=" + out, "yaml=" + out}, true},
		"a link to it":      {[]string{"json=" + out, "yaml=" + link}, true},
		"a new file":        {[]string{"json=new", "yaml=./new"}, true},
		"the same form":     {[]string{"json=" + out, "table=" + other, "json=" + out}, true},
		"and a stdout form": {[]string{"json", "yaml=" + out}, false},
		"and a dash":        {[]string{"json=-", "yaml=" + out}, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseDestinations(tc.outputs, forms)
			if (err != nil) != tc.refused || err != nil && !strings.Contains(err.Error(), "another file") {
				t.Errorf("refused %v, wanted %v: %v", err != nil, tc.refused, err)
			}
		})
	}
}

// A dash means standard output, as it means standard input for -f.
func TestADashIsStandardOutput(t *testing.T) {
	all, err := parseDestinations([]string{"json=-"}, forms)
	if err != nil || len(all) != 1 || all[0].path != "" || all.printed() != "json" {
		t.Errorf("got %+v and %v, wanted JSON on standard output", all, err)
	}
	if _, err := parseDestinations([]string{"json=-", "yaml"}, forms); err == nil || !strings.Contains(err.Error(), "at most one form") {
		t.Errorf("two forms on standard output: %v", err)
	}
}
