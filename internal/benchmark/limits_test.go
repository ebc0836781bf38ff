package benchmark

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// A warning that comes last is told, however many there are, and however long it
// is; the schema of status counts characters.
func TestAppendWarning(t *testing.T) {
	var warnings []string
	for i := range 2 * maxWarnings {
		last := fmt.Sprint(i, strings.Repeat("é", maxWarning))
		warnings = AppendWarning(warnings, last)
		got := warnings[len(warnings)-1]
		if len(warnings) != min(i+1, maxWarnings) || !strings.HasPrefix(got, fmt.Sprint(i, "é")) || utf8.RuneCountInString(got) > maxWarning {
			t.Fatalf("wanted warning %d to be the last of at most %d, found %d, and as the last %q", i, maxWarnings, len(warnings), got)
		}
	}
}
