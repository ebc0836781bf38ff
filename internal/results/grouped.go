package results

import (
	"strconv"
	"strings"
)

// Grouped writes n with commas between groups of three digits, as counts are
// written in every text for people. Values that a manifest or a flag has, and
// forms that programs read, are written without.
func Grouped[T ~int | ~int64 | ~uint64](n T) string {
	digits, sign := strconv.FormatUint(uint64(n), 10), ""
	if n < 0 {
		digits, sign = strconv.FormatUint(-uint64(n), 10), "-"
	}
	var out strings.Builder
	out.WriteString(sign)
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out.WriteByte(',')
		}
		out.WriteRune(d)
	}
	return out.String()
}
