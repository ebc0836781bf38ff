package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A reason that keeps the cluster from starting ends the demo at once: nothing is built before the look at the host.
func TestTheDemoLooksAtTheHostBeforeItBuilds(t *testing.T) {
	called := filepath.Join(t.TempDir(), "called")
	for _, program := range []string{"go", "make"} {
		script := "#!/bin/sh\necho " + program + " \"$@\" >>" + called + "\nexit 1\n"
		if err := os.WriteFile(filepath.Join(filepath.Dir(called), program), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", filepath.Dir(called)+":"+os.Getenv("PATH"))
	first := (&demo{place: venueHost}).steps("")[0]
	if err := first.do(context.Background()); err == nil {
		t.Error("the first step ignores that the cluster cannot start")
	}
	if got, err := os.ReadFile(called); err != nil || strings.TrimSpace(string(got)) != "go run ./hack/cluster check" {
		t.Errorf("the first step ran %q, %v, want only the look at the host", got, err)
	}
}

func TestChoose(t *testing.T) {
	tests := map[string]struct {
		s       surroundings
		want    venue
		wantErr bool
	}{
		"kind before the host":              {s: surroundings{docker: true, kind: true, debian: true, root: true}, want: venueKind},
		"docker without kind":               {s: surroundings{docker: true, debian: true, root: true}, want: venueHost},
		"kind without docker":               {s: surroundings{kind: true}, want: venueLocal},
		"Debian without root":               {s: surroundings{debian: true}, want: venueLocal},
		"root without Debian":               {s: surroundings{root: true}, want: venueLocal},
		"current, with an image":            {s: surroundings{cluster: "current", image: "example.org/operator:1", docker: true, kind: true}, want: venueCurrent},
		"current, with an image only here":  {s: surroundings{cluster: "current", image: builtHere}, wantErr: true},
		"unknown cluster":                   {s: surroundings{cluster: "production", docker: true, kind: true}, wantErr: true},
		"an image alone changes no cluster": {s: surroundings{image: "example.org/operator:1"}, want: venueLocal},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, why, err := tc.s.choose()
			if got != tc.want || (err != nil) != tc.wantErr {
				t.Errorf("got %q (%s), %v; want %q, error %v", got, why, err, tc.want, tc.wantErr)
			}
		})
	}
}
