package main

import (
	"archive/zip"
	"bytes"
	"os"
	"os/exec"
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
		if len(tool.debian) > 0 || tool.script != "" {
			continue
		}
		if tool.maven != "" {
			if _, err := os.Stat(filepath.Join(tool.maven, pom)); err != nil {
				t.Errorf("%s: %v", tool.name, err)
			}
			continue
		}
		if tool.npm != "" {
			if !strings.HasPrefix(tool.integrity, "sha512-") || !strings.Contains(tool.npm, "@") {
				t.Errorf("%s: wanted the npm package with its version and its digest, found %q and %q", tool.name, tool.npm, tool.integrity)
			}
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

func TestAFailedBuildIsRepeated(t *testing.T) {
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

// Build tags select files, and a change of them is a change of the inputs.
func TestTagsSelectFiles(t *testing.T) {
	b, _ := newTestBuilder(t)
	folder := filepath.Join(b.modules, "hello")
	writeFile(t, filepath.Join(folder, "main.go"), "package main\n\nvar words = \"little\"\n\nfunc main() { print(words) }\n")
	writeFile(t, filepath.Join(folder, "all.go"), "//go:build all\n\npackage main\n\nfunc init() { words = \"all\" }\n")
	for want, tags := range map[string][]string{"little": nil, "all": {"other", "all"}} {
		if err := b.build(t.Context(), []tool{{name: "hello", module: "hello", pkg: ".", tags: tags}}); err != nil {
			t.Fatal(err)
		}
		if got, err := exec.Command(filepath.Join(b.output, "hello")).CombinedOutput(); string(got) != want {
			t.Errorf("with the tags %v it says %q (%v), wanted %q", tags, got, err, want)
		}
	}
}

// A tool is built with a replaced file in a dependency. The next tool gets the original file, and the copy is removed.
func TestSubstitutionChangesOnlyOneTool(t *testing.T) {
	b, _ := newTestBuilder(t)
	// As always, the dependency comes from a proxy; here it is a folder.
	t.Setenv("GOPROXY", "file://"+newProxy(t))
	t.Setenv("GONOSUMDB", "*")
	t.Setenv("GOMODCACHE", filepath.Join(t.TempDir(), "cache"))
	t.Setenv("GOFLAGS", "-mod=mod -modcacherw")
	hello := filepath.Join(b.modules, "hello")
	writeFile(t, filepath.Join(hello, "go.mod"), "module example.org/hello\n\ngo 1.26\n\nrequire example.org/words v1.0.0\n")
	writeFile(t, filepath.Join(hello, "main.go"), "package main\n\nimport \"example.org/words\"\n\nfunc main() { print(words.Word) }\n")
	writeFile(t, filepath.Join(hello, "_other", "word.go"), "package words\n\nconst Word = \"substituted\"\n")
	tools := []tool{
		{name: "changed", module: "hello", pkg: ".", substitutions: []substitution{{module: "example.org/words", file: "word.go", source: "_other/word.go"}}},
		{name: "unchanged", module: "hello", pkg: "."},
	}
	if err := b.build(t.Context(), tools); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"changed": "substituted", "unchanged": "original"} {
		if got, err := exec.Command(filepath.Join(b.output, name)).CombinedOutput(); string(got) != want {
			t.Errorf("%s says %q (%v), wanted %q", name, got, err, want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(b.stamps(), "*.workshop")); len(left) > 0 {
		t.Errorf("copies are left: %v", left)
	}
	before := digestOf(t, b, tools[0])
	writeFile(t, filepath.Join(hello, "_other", "word.go"), "package words\n\nconst Word = \"another\"\n")
	if digestOf(t, b, tools[0]) == before {
		t.Error("a changed substitution would not be built")
	}
}

// The call of the inserted code is a separate line, which must be at the expected place.
func TestSubstitutionIsCalled(t *testing.T) {
	for name, tc := range map[string]struct {
		behind, want, wantError string
	}{
		"after a text found once":  {behind: "begin()", want: "begin()\nours()\n\nend()\nend()\n"},
		"after a text found twice": {behind: "end()", wantError: "2 times"},
		"after a missing text":     {behind: "elsewhere()", wantError: "0 times"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, copied := t.TempDir(), t.TempDir()
			writeFile(t, filepath.Join(dir, "ours.go"), "ours")
			writeFile(t, filepath.Join(copied, "theirs.go"), "begin()\nend()\nend()\n")
			s := substitution{file: "ours.go", source: "ours.go", call: call{file: "theirs.go", behind: tc.behind, line: "ours()"}}
			err := s.apply(dir, copied)
			if tc.wantError != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantError) {
					t.Fatalf("the error is %v, wanted it to say %q", err, tc.wantError)
				}
				return
			}
			if got, readErr := os.ReadFile(filepath.Join(copied, "theirs.go")); err != nil || readErr != nil || string(got) != tc.want {
				t.Errorf("the file is %q (%v, %v), wanted %q", got, err, readErr, tc.want)
			}
		})
	}
}

func digestOf(t *testing.T, b builder, tool tool) string {
	t.Helper()
	digest, err := inputsDigest(tool, filepath.Join(b.modules, tool.module), "")
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

// newProxy serves one module, example.org/words.
func newProxy(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	versions := filepath.Join(dir, "example.org", "words", "@v")
	const mod = "module example.org/words\n\ngo 1.26\n"
	writeFile(t, filepath.Join(versions, "list"), "v1.0.0\n")
	writeFile(t, filepath.Join(versions, "v1.0.0.info"), `{"Version":"v1.0.0"}`)
	writeFile(t, filepath.Join(versions, "v1.0.0.mod"), mod)
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for name, content := range map[string]string{"go.mod": mod, "word.go": "package words\n\nconst Word = \"original\"\n"} {
		w, err := z.Create("example.org/words@v1.0.0/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(versions, "v1.0.0.zip"), archive.String())
	return dir
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
