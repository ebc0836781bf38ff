package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSelectTools(t *testing.T) {
	cases := map[string]struct {
		names     []string
		want      []string
		wantError string
	}{
		"one tool":                      {names: []string{"helm"}, want: []string{"helm"}},
		"a group":                       {names: []string{"envtest"}, want: []string{"kube-apiserver", "kubectl", "etcd"}},
		"group and member, once":        {names: []string{"etcd", "envtest"}, want: []string{"kube-apiserver", "kubectl", "etcd"}},
		"unknown name lists the others": {names: []string{"etcd", "no-such"}, wantError: "controller-gen"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tools, err := selectTools(tc.names)
			if tc.wantError != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantError) {
					t.Fatalf("error = %v, want one that contains %q", err, tc.wantError)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, selected := range tools {
				got = append(got, selected.name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGroupsNameKnownTools(t *testing.T) {
	for group, members := range groups() {
		if _, err := selectTools(members); err != nil {
			t.Errorf("group %s: %v", group, err)
		}
	}
}

func TestEveryToolIsPinnedByItsModule(t *testing.T) {
	for _, tool := range catalogue() {
		if tool.debian != "" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(tool.module, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		if tool.pkg != "." && !strings.Contains(string(content), tool.pkg) {
			t.Errorf("%s/go.mod has no tool directive for %s", tool.module, tool.pkg)
		}
		if _, err := linkerFlags(tool, tool.module); err != nil {
			t.Errorf("linker flags of %s: %v", tool.name, err)
		}
	}
}

func TestPinnedVersion(t *testing.T) {
	file := filepath.Join(t.TempDir(), "go.mod")
	writeFile(t, file, "module m\nrequire example.org/one v1.2.3\nrequire (\n\texample.org/two v0.4.0 // indirect\n)\nreplace example.org/three => example.org/four v9.9.9\n")
	for module, want := range map[string]string{"example.org/one": "v1.2.3", "example.org/two": "v0.4.0"} {
		if got, err := pinnedVersion(file, module); err != nil || got != want {
			t.Errorf("pinnedVersion(%s) = %q, %v, want %q", module, got, err, want)
		}
	}
	if got, err := pinnedVersion(file, "example.org/three"); err == nil {
		t.Errorf("pinnedVersion of a module that is not required = %q, want an error", got)
	}
}

func TestBuildHappensOnlyWhenInputsChange(t *testing.T) {
	b, progress := newTestBuilder(t)
	hello := []tool{{name: "hello", module: "hello", pkg: "."}}
	source := filepath.Join(b.modules, "hello", "main.go")
	builds := func() int {
		t.Helper()
		progress.Reset()
		if err := b.build(t.Context(), hello); err != nil {
			t.Fatal(err)
		}
		return strings.Count(progress.String(), "built hello")
	}

	if got := builds(); got != 1 {
		t.Fatalf("first call built %d times, want 1", got)
	}
	if got := builds(); got != 0 {
		t.Errorf("second call built %d times, want 0", got)
	}
	writeFile(t, source, "package main\n\nfunc main() { println() }\n")
	if got := builds(); got != 1 {
		t.Errorf("call after a change built %d times, want 1", got)
	}
	if err := os.Remove(filepath.Join(b.output, "hello")); err != nil {
		t.Fatal(err)
	}
	if got := builds(); got != 1 {
		t.Errorf("call after the binary was removed built %d times, want 1", got)
	}
}

func TestFailedBuildIsNotTakenForCurrent(t *testing.T) {
	b, _ := newTestBuilder(t)
	hello := []tool{{name: "hello", module: "hello", pkg: "."}}
	source := filepath.Join(b.modules, "hello", "main.go")
	broken := "package main\n\nfunc main() { undefinedName() }\n"
	writeFile(t, source, broken)
	for range 2 {
		err := b.build(t.Context(), hello)
		if err == nil || !strings.Contains(err.Error(), "undefinedName") {
			t.Fatalf("error = %v, want the compiler's message", err)
		}
	}
}

func newTestBuilder(t *testing.T) (builder, *bytes.Buffer) {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "modules", "hello", "go.mod"), "module example.org/hello\n\ngo 1.26\n")
	writeFile(t, filepath.Join(dir, "modules", "hello", "go.sum"), "")
	writeFile(t, filepath.Join(dir, "modules", "hello", "main.go"), "package main\n\nfunc main() {}\n")
	progress := &bytes.Buffer{}
	return builder{modules: filepath.Join(dir, "modules"), output: filepath.Join(dir, "out"), progress: progress}, progress
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
