package text

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
			got := Shorten(tc.said, 20)
			if got != tc.want || len(got) > 20 {
				t.Errorf("wanted %q, found %q", tc.want, got)
			}
			if again := Shorten(got, 20); again != got {
				t.Errorf("wanted it to stay %q, found %q", got, again)
			}
		})
	}
}
