package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
)

// The shape of code: lengths in lines.
const (
	maxFileLines       = 400
	medianFuncLines    = 15
	ninetiethFuncLines = 45
)

// source is one file of handwritten code.
type source struct {
	path  string
	lines int
	// functions are the lengths of the functions.
	functions []int
}

// readSource measures a file; ok is false for generated ones.
func readSource(path string) (s source, ok bool, err error) {
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, path, nil, parser.ParseComments)
	if err != nil || ast.IsGenerated(file) {
		return source{}, false, err
	}
	s = source{path: path, lines: positions.File(file.Pos()).LineCount()}
	for _, declaration := range file.Decls {
		if f, isFunc := declaration.(*ast.FuncDecl); isFunc {
			s.functions = append(s.functions, positions.Position(f.End()).Line-positions.Position(f.Pos()).Line+1)
		}
	}
	return s, true, nil
}

// misshapen returns a line for each broken rule about lengths.
func misshapen(sources []source) []string {
	var lines []string
	var lengths []int
	for _, s := range sources {
		if s.lines > maxFileLines {
			lines = append(lines, fmt.Sprintf("%s has %d lines: split it, %d is the limit", s.path, s.lines, maxFileLines))
		}
		lengths = append(lengths, s.functions...)
	}
	if len(lengths) == 0 {
		return lines
	}
	slices.Sort(lengths)
	if got := lengths[len(lengths)/2]; got > medianFuncLines {
		lines = append(lines, fmt.Sprintf("half of all functions have more than %d lines, %d is the limit", got-1, medianFuncLines))
	}
	if got := lengths[len(lengths)*9/10]; got > ninetiethFuncLines {
		lines = append(lines, fmt.Sprintf("a tenth of all functions has more than %d lines, %d is the limit", got-1, ninetiethFuncLines))
	}
	return lines
}

// undocumented returns a line for each package of several files without a doc.go. A package with a single file is
// described there.
func undocumented(packages []pkg) []string {
	var lines []string
	for _, p := range packages {
		if len(p.GoFiles) > 1 && !slices.Contains(p.GoFiles, "doc.go") {
			lines = append(lines, p.ImportPath+" has no doc.go: say its role, what it may import and its invariant")
		}
	}
	return lines
}

// paths returns the files of the packages.
func paths(packages []pkg) []string {
	var files []string
	for _, p := range packages {
		for _, name := range p.GoFiles {
			files = append(files, filepath.Join(p.Dir, name))
		}
	}
	return files
}

// relativeLink matches a Markdown link to a file, with its fragment.
var relativeLink = regexp.MustCompile(`\]\(([\w./-]+)(?:#[^)]*)?\)`)

// deadLinks returns the relative link targets of a Markdown text that do not exist.
func deadLinks(markdown string, exists func(target string) bool) []string {
	var dead []string
	for _, match := range relativeLink.FindAllStringSubmatch(markdown, -1) {
		if target := match[1]; !exists(target) {
			dead = append(dead, target)
		}
	}
	return dead
}
