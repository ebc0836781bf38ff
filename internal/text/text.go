package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxBytes bounds a text that Printable returns.
const MaxBytes = 512

// cutMark shows that a text was shortened.
const cutMark = " …"

// Shorten returns a text from outside the program in at most limit bytes, which must be more than cutMark has.
// Unprintable characters, such as line feeds and escape sequences, become spaces, so that they cannot control a
// terminal.
func Shorten(text string, limit int) string {
	text = strings.Map(printable, strings.ToValidUTF8(text, "?"))
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit-len(cutMark)], "") + cutMark
}

// Printable is Shorten to MaxBytes.
func Printable(text string) string { return Shorten(text, MaxBytes) }

// WithExample adds an example in parentheses, if there is one.
func WithExample(text, example string) string {
	if example == "" {
		return text
	}
	return text + " (" + example + ")"
}

func printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return ' '
}

// Plural writes n and the noun, in the plural unless n is 1.
func Plural[T ~int | ~int32 | ~int64 | ~uint64](n T, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Grouped(n) + " " + noun + "s"
}

// Wrap breaks text between words into lines of at most width characters. A longer word stays whole.
func Wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// Quoted returns text as one word of a shell command, always in quotes.
func Quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Word returns text as one word of a shell command, in quotes only if a shell would change it.
func Word(s string) string {
	changes := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:@=,+%", r)
	}
	if s == "" || strings.ContainsFunc(s, changes) {
		return Quoted(s)
	}
	return s
}
