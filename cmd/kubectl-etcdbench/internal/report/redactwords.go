package report

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// shortest is the length from which a name is replaced within sentences, too: a shorter one may be a common word.
const shortest = 3

// replacement replaces names in texts.
type replacement struct {
	words   map[string]string
	entries map[string]bool
	// lengths are those of all names and entries, the greatest first, so that an address goes before its host.
	lengths []int
}

func (r *redaction) replacement() *replacement {
	out := &replacement{words: r.words, entries: r.entries}
	for word := range r.words {
		out.lengths = append(out.lengths, len(word))
	}
	for entry := range r.entries {
		out.lengths = append(out.lengths, len(entry))
	}
	slices.Sort(out.lengths)
	out.lengths = slices.Compact(out.lengths)
	slices.Reverse(out.lengths)
	return out
}

// namesObjects are keys whose values are names of objects, also if an entry of a suite has the same name.
var namesObjects = []string{"namespace", "node", "secretName", "serverName", "clusterID", "uid"}

// walk replaces in all strings, and in keys that are a name as a whole: reports have members by their IDs.
func (r *replacement) walk(key string, value any) any {
	switch v := value.(type) {
	case string:
		word := r.words[v]
		switch {
		case word != "" && (!r.entries[v] || slices.Contains(namesObjects, key)):
			return word
		case r.entries[v]:
			return v
		}
		return r.text(v)
	case []any:
		for i := range v {
			v[i] = r.walk(key, v[i])
		}
	case map[string]any:
		out := map[string]any{}
		for inner, of := range v {
			at := inner
			if word := r.words[inner]; strings.HasPrefix(word, "member-id") {
				inner = word
			}
			if (key == "metadata" || key == "service") && at == "name" {
				// The name of an object, and not that of an entry.
				at = "namespace"
			}
			out[inner] = r.walk(at, of)
		}
		return out
	}
	return value
}

// text replaces names within a sentence, in one pass: what has been replaced is not looked at again.
func (r *replacement) text(s string) string {
	var out strings.Builder
	for at := 0; at < len(s); {
		if at == 0 || !isAlphanumeric(s[at-1]) {
			if n, word := r.at(s, at); n > 0 {
				out.WriteString(word)
				at += n
				continue
			}
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		out.WriteString(s[at : at+size])
		at += size
	}
	return out.String()
}

// at is the longest name or entry at a place of a text, with its length and what replaces it.
func (r *replacement) at(s string, at int) (int, string) {
	for _, n := range r.lengths {
		if at+n > len(s) || at+n < len(s) && isAlphanumeric(s[at+n]) {
			continue
		}
		found := s[at : at+n]
		word := r.words[found]
		switch {
		case r.entries[found]:
			return n, found
		case word != "" && n >= shortest && (isDistinct.MatchString(found) || isUsedAsName(s[:at], s[at+n:])):
			return n, word
		}
	}
	return 0, ""
}

var (
	// isDistinct matches names that are no words of a language.
	isDistinct = regexp.MustCompile(`[^A-Za-z]`)
	// nameFollows and namePrecedes match what is beside a name: "namespace etcd", "etcd/versions", "etcd-0".
	nameFollows  = regexp.MustCompile("(?i)(?:[/\"'`=-]|[A-Za-z0-9]\\.|\\b(?:namespace|node|pod|member|run|suite|schedule|secret|service) )$")
	namePrecedes = regexp.MustCompile("^(?:[/\"'`-]|\\.[A-Za-z0-9]|:[0-9])")
)

// isUsedAsName reports whether a word of letters alone is a name where it stands. Else it can be any word, such as etcd.
func isUsedAsName(before, after string) bool {
	return nameFollows.MatchString(before[max(0, len(before)-16):]) || namePrecedes.MatchString(after)
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
