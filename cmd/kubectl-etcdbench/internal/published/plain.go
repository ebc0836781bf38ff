package main

import (
	"regexp"
	"strings"
)

// link matches a link of Markdown.
var link = regexp.MustCompile(`\[([^]]*)\]\(([^)]*)\)`)

// plain is Markdown as text: links keep their words.
func plain(markdown string) string {
	return strings.NewReplacer("**", "", "`", "").Replace(link.ReplaceAllString(markdown, "$1"))
}
