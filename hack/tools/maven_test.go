package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The jars of a tool are those of its pom.xml; a change of it fetches them again.
func TestFetchMaven(t *testing.T) {
	b, progress := newTestBuilder(t)
	b.modules = t.TempDir()
	if err := os.Mkdir(filepath.Join(b.modules, "server"), 0o755); err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(b.modules, "server", pom)
	fakePrograms(t, map[string]string{"mvn": "#!/bin/sh\ngrep -q missing pom.xml && { echo cannot resolve missing; exit 1; }\nfor last; do :; done\nmkdir \"${last#*=}\" && cp pom.xml \"${last#*=}/a.jar\"\n"})
	all := []tool{{name: "server", maven: "server"}}
	for i, want := range []string{"first", "first", "second"} {
		writeFile(t, project, want)
		if err := b.build(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(b.output, "server", "a.jar")); err != nil || string(got) != want {
			t.Fatalf("call %d: the jar is %q, %v, wanted %q", i, got, err, want)
		}
	}
	if n := strings.Count(progress.String(), "fetching"); n != 2 {
		t.Errorf("fetched %d times, wanted 2", n)
	}
	writeFile(t, project, "missing")
	if err := b.build(t.Context(), all); err == nil || !strings.Contains(err.Error(), "cannot resolve missing") {
		t.Errorf("the error is %v, wanted Maven's words", err)
	}
	if left, _ := filepath.Glob(filepath.Join(b.output, ".maven-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
