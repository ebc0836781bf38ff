package house

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// root of the checkout, from this package.
const root = "../../.."

func TestCodeKeepsItsShape(t *testing.T) {
	var sources []source
	for _, path := range paths(projectPackages(t)) {
		s, ok, err := readSource(path)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			sources = append(sources, s)
		}
	}
	for _, line := range misshapen(sources) {
		t.Error(line)
	}
}

func TestEveryPackageIsDocumented(t *testing.T) {
	for _, line := range undocumented(projectPackages(t)) {
		t.Error(line)
	}
}

func TestLinksLeadSomewhere(t *testing.T) {
	for _, file := range documents(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		exists := func(target string) bool {
			_, err := os.Stat(filepath.Join(filepath.Dir(file), target))
			return err == nil
		}
		for _, target := range deadLinks(string(text), exists) {
			t.Errorf("%s links to %s, which does not exist", file, target)
		}
	}
}

// documents returns the pages of the documentation, and README.md and its neighbours.
func documents(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob(root + "/docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("found %d pages of documentation: %v", len(pages), err)
	}
	neighbours, err := filepath.Glob(root + "/*.md")
	if err != nil || len(neighbours) == 0 {
		t.Fatalf("found %d documents beside README.md: %v", len(neighbours), err)
	}
	return append(pages, neighbours...)
}

func TestMisshapen(t *testing.T) {
	short := slices.Repeat([]int{5}, 9)
	tests := map[string]struct {
		sources []source
		want    int
	}{
		"within the limits":       {[]source{{path: "a.go", lines: 400, functions: append(short, 45)}}, 0},
		"long file":               {[]source{{path: "a.go", lines: 401, functions: short}}, 1},
		"too many long functions": {[]source{{path: "a.go", lines: 100, functions: append(short, 46)}}, 1},
		"median too long":         {[]source{{path: "a.go", lines: 100, functions: []int{16, 16, 5}}}, 1},
		"no functions":            {[]source{{path: "a.go", lines: 10}}, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := misshapen(tc.sources); len(got) != tc.want {
				t.Errorf("got %d complaints, want %d: %v", len(got), tc.want, got)
			}
		})
	}
}

func TestUndocumented(t *testing.T) {
	packages := []pkg{
		{ImportPath: "a", GoFiles: []string{"a.go", "doc.go"}},
		{ImportPath: "b", GoFiles: []string{"b.go", "c.go"}},
		{ImportPath: "one-file", GoFiles: []string{"main.go"}},
		{ImportPath: "tests-only"},
	}
	if got := undocumented(packages); len(got) != 1 {
		t.Errorf("got %v, want one complaint about b", got)
	}
}

func TestDeadLinks(t *testing.T) {
	text := "[a](there.md#x) [b](gone.md) [c](https://example.org/gone.md) [d](#here) a](unclosed"
	got := deadLinks(text, func(target string) bool { return target == "there.md" })
	if !slices.Equal(got, []string{"gone.md"}) {
		t.Errorf("got %v, want only gone.md", got)
	}
}
