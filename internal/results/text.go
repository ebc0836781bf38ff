package results

import (
	"strings"
	"unicode"
)

// maxTextBytes bounds each text in a snapshot.
const maxTextBytes = 512

// cutMark shows that a text was longer.
const cutMark = " …"

// Shorten returns what others said in at most limit bytes, so that nothing that
// quotes it is refused for its length; limit has room for the mark of a cut. What
// can not be printed, for example a line feed or an escape sequence, becomes a
// space, so that it steers nobody's terminal.
func Shorten(text string, limit int) string {
	text = strings.Map(printable, strings.ToValidUTF8(text, "?"))
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit-len(cutMark)], "") + cutMark
}

// Printable is Shorten for a text in a snapshot.
func Printable(text string) string { return Shorten(text, maxTextBytes) }

func printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return ' '
}
