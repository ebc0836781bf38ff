package lifecycle

import (
	"strings"
	"testing"
)

func TestShorten(t *testing.T) {
	tests := map[string]struct{ said, want string }{
		"short":            {"as it is", "as it is"},
		"of many letters":  {strings.Repeat("é", 30), strings.Repeat("é", 8) + " …"},
		"for a terminal":   {"a\x1b[2Jb\nc", "a [2Jb c"},
		"not UTF-8":        {"a\xffb", "a?b"},
		"the other way on": {"a\u202eb", "a b"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Shorten(tc.said, 20); got != tc.want || len(got) > 20 {
				t.Errorf("wanted %q, found %q", tc.want, got)
			}
		})
	}
}
