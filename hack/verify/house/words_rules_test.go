package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
)

// avoidedWords are words that texts do not use, each with plain words for it.
func avoidedWords() map[string]string {
	return map[string]string{
		"can not":    "cannot",
		"excuse":     "reason",
		"fate":       "outcome",
		"feared":     "expected",
		"last words": "termination message",
		"nobody":     "name the actor, or use the passive",
		"owed":       "unsent, or missing",
		"patience":   "timeout",
		"stranger":   "name the actor",
		"testimony":  "report",
		"unheard":    "not reported",
		"whoever":    "name the actor",
		"whom":       "name the actor",
	}
}

// text is a comment, a string or a document, with the line on which it begins.
type text struct {
	content string
	line    int
}

// wordy matches the avoided words. The words of "can not" may be on two lines of a comment.
func wordy(words map[string]string) *regexp.Regexp {
	var all []string
	for word := range words {
		all = append(all, strings.ReplaceAll(regexp.QuoteMeta(word), " ", `[\s/]+`))
	}
	return regexp.MustCompile(`(?i)\b(` + strings.Join(all, "|") + `)(s|'s)?\b`)
}

// unplain returns a line for each avoided word in the texts of a file.
func unplain(path string, texts []text, words map[string]string) (lines []string) {
	pattern := wordy(words)
	for _, t := range texts {
		for _, at := range pattern.FindAllStringSubmatchIndex(t.content, -1) {
			line := t.line + strings.Count(t.content[:at[0]], "\n")
			word := strings.ToLower(strings.Join(strings.FieldsFunc(t.content[at[2]:at[3]], func(r rune) bool { return strings.ContainsRune(" \t\n/", r) }), " "))
			lines = append(lines, fmt.Sprintf("%s:%d: found %q, wanted plain words (%s)", path, line, word, words[word]))
		}
	}
	return lines
}

// textsOf returns the comments and the string literals of Go code.
func textsOf(path string, code []byte) (texts []text, err error) {
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, path, code, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	add := func(at token.Pos, content string) {
		texts = append(texts, text{content: content, line: positions.Position(at).Line})
	}
	for _, group := range file.Comments {
		add(group.Pos(), string(code[positions.Position(group.Pos()).Offset:positions.Position(group.End()).Offset]))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			add(l.Pos(), l.Value)
		}
		return true
	})
	return texts, nil
}
