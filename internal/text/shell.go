package text

import (
	"strings"
	"unicode"
)

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
