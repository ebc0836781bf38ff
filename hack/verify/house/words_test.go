package house

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Comments and strings of Go code, and the documents, use plain words.
func TestPlainWords(t *testing.T) {
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		own, err := filepath.Rel(root, path)
		if err != nil || entry.IsDir() && slices.Contains([]string{"bin", ".git"}, own) {
			return orSkip(err)
		}
		for _, line := range unplainIn(t, path, filepath.ToSlash(own)) {
			t.Error(line)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// unplainIn returns the avoided words of a file, if it is Go code or a document.
func unplainIn(t *testing.T, path, own string) []string {
	t.Helper()
	isCode := strings.HasSuffix(own, ".go") && !strings.HasPrefix(own, "hack/verify/house/words_")
	isDocument := strings.HasSuffix(own, ".md") && (strings.HasPrefix(own, "docs/") || !strings.Contains(own, "/"))
	if !isCode && !isDocument {
		return nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	texts := []text{{content: string(content), line: 1}}
	if isCode {
		if texts, err = textsOf(path, content); err != nil {
			t.Fatal(err)
		}
	}
	return unplain(own, texts, avoidedWords())
}

func TestUnplain(t *testing.T) {
	tests := map[string]struct {
		code string
		want []string
	}{
		"plain":                   {"package a\n\n// a cannot be nothing.\nvar a = \"none\"\n", nil},
		"a comment":               {"package a\n\n// a is\n// what Nobody sees.\nvar a = 1\n", []string{`a.go:4: found "nobody", wanted plain words (none)`}},
		"a string":                {"package a\n\nvar a = `one\nnobody's`\n", []string{`a.go:4: found "nobody", wanted plain words (none)`}},
		"over two lines":          {"package a\n\n// a can\n// not be.\nvar a = 1\n", []string{`a.go:3: found "can not", wanted plain words (cannot)`}},
		"an identifier":           {"package a\n\nvar nobody = 1\n", nil},
		"a part of another word":  {"package a\n\n// a followed b.\nvar a = 1\n", nil},
		"a word and a plain word": {"package a\n\n// a owed b, plainly.\nvar a = 1\n", []string{`a.go:3: found "owed", wanted plain words (unsent)`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			texts, err := textsOf("a.go", []byte(tc.code))
			if err != nil {
				t.Fatal(err)
			}
			got := unplain("a.go", texts, map[string]string{"nobody": "none", "can not": "cannot", "owed": "unsent"})
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %q, wanted %q", got, tc.want)
			}
		})
	}
}
