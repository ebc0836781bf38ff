package command

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// printed is a command that a page, a help text or a message prints.
type printed struct {
	from  string
	words []string
	// whole: it is a line of its own, so its arguments are complete.
	whole bool
}

// programs are those whose commands are checked.
var programs = []string{"kubectl-etcdbench", "bin/kubectl-etcdbench", "kubectl", "etcdctl", "helm"}

const repository = "../../../.."

// printedOnPages returns the commands in the blocks and the code spans of the documents.
func printedOnPages(t *testing.T) (all []printed) {
	t.Helper()
	span := regexp.MustCompile("`([^`\n]+)`")
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		found, err := filepath.Glob(filepath.Join(repository, pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	for _, page := range pages {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		inBlock := false
		for line := range strings.Lines(strings.ReplaceAll(string(data), "\\\n", " ")) {
			switch {
			case strings.HasPrefix(strings.TrimSpace(line), "```"):
				inBlock = !inBlock
			case inBlock:
				all = append(all, commandsIn(page, line, true)...)
			default:
				for _, code := range span.FindAllStringSubmatch(strings.ReplaceAll(line, `\|`, "|"), -1) {
					all = append(all, commandsIn(page, code[1], false)...)
				}
			}
		}
	}
	return all
}

// printedInHelp returns the commands in the examples of all commands.
func printedInHelp(root *cobra.Command) (all []printed) {
	for line := range strings.Lines(strings.ReplaceAll(root.Example, "\\\n", " ")) {
		all = append(all, commandsIn("the help of "+root.CommandPath(), line, true)...)
	}
	for _, c := range root.Commands() {
		all = append(all, printedInHelp(c)...)
	}
	return all
}

// printedInMessages returns the beginnings of commands in the texts of the code: their words up to the first that is
// neither a command nor a flag.
func printedInMessages(t *testing.T) (all []printed) {
	t.Helper()
	begins := regexp.MustCompile(`(?:kubectl(?: etcdbench)?|etcdctl|helm)(?: [a-z-]+| --?[a-z-]+(?:=[^\s"',.;:)]+)?)+`)
	for path, text := range textsOfSources(t, "internal", "controllers", "cmd") {
		for _, found := range begins.FindAllString(text, -1) {
			all = append(all, printed{from: path, words: strings.Fields(found)})
		}
	}
	return all
}

// textsOfSources are the texts in the sources of some folders, without tests, each with its file.
func textsOfSources(t *testing.T, folders ...string) iter.Seq2[string, string] {
	t.Helper()
	return func(yield func(path, text string) bool) {
		for _, folder := range folders {
			err := filepath.WalkDir(filepath.Join(repository, folder), func(path string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
					return err
				}
				file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
				if err != nil {
					return err
				}
				ast.Inspect(file, func(n ast.Node) bool {
					text, whole := literal(n)
					yield(path, text)
					return !whole
				})
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// variables are before a command.
var variables = regexp.MustCompile(`^(?:[A-Z_]+=\S+ +)+`)

// commandsIn returns the commands of a line of a shell.
func commandsIn(from, line string, whole bool) (all []printed) {
	line, _, _ = strings.Cut(line, " #")
	for _, one := range regexp.MustCompile(` \| | && |; |\$\(|\|$`).Split(line, -1) {
		one = variables.ReplaceAllString(strings.TrimPrefix(strings.TrimSpace(one), "$ "), "")
		one, adds := strings.CutPrefix(one, "xargs -n 1 ")
		one, _, _ = strings.Cut(one, " > ")
		words := wordsOf(one)
		if len(words) > 0 && slices.Contains(programs, strings.TrimPrefix(words[0], "bin/tools/")) {
			words[0] = strings.TrimPrefix(words[0], "bin/tools/")
			all = append(all, printed{from, words, whole && !adds})
		}
	}
	return all
}

// wordsOf splits a line as a shell does.
func wordsOf(line string) (words []string) {
	for _, word := range regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`).FindAllString(line, -1) {
		words = append(words, strings.NewReplacer("'", "", `"`, "").Replace(word))
	}
	return words
}

// arguments returns what follows the name of the plugin; false for another program.
func (p printed) arguments() ([]string, bool) {
	switch {
	case strings.HasSuffix(p.words[0], "kubectl-etcdbench"):
		return p.words[1:], true
	case p.words[0] == "kubectl" && len(p.words) > 1 && p.words[1] == "etcdbench":
		return p.words[2:], true
	}
	return nil, false
}

// Each command of this plugin that is printed anywhere exists and has the flags. One on a line of its own has arguments
// that it takes.
func TestPrintedCommandsExist(t *testing.T) {
	root := func() *cobra.Command {
		root := (&tool{kube: &kubeFlags{}}).root()
		root.InitDefaultCompletionCmd("completion")
		return root
	}
	all := slices.Concat(printedOnPages(t), printedInHelp(root()), printedInMessages(t))
	checked := 0
	for _, p := range all {
		args, isOurs := p.arguments()
		if !isOurs || len(args) == 0 {
			continue
		}
		cmd, rest, err := root().Find(args)
		if err != nil || cmd.Parent() == nil {
			if p.whole || strings.HasPrefix(args[0], "-") && args[0] != "--version" {
				t.Errorf("%s: %q: no such command (%v)", p.from, p.words, err)
			}
			continue
		}
		checked++
		if err := cmd.ParseFlags(filledIn(rest)); err != nil && !errors.Is(err, pflag.ErrHelp) && !strings.Contains(err.Error(), "needs an argument") {
			t.Errorf("%s: %q: %v", p.from, p.words, err)
		}
		if err := cmd.ValidateArgs(cmd.Flags().Args()); p.whole && err != nil {
			t.Errorf("%s: %q: %v", p.from, p.words, err)
		}
	}
	if checked < 100 {
		t.Errorf("checked only %d commands", checked)
	}
}

// filledIn puts values in place of words like N.
func filledIn(words []string) (out []string) {
	if last := len(words) - 1; last >= 0 && regexp.MustCompile(`^-[a-z]$`).MatchString(words[last]) {
		// The value of the last flag is not known.
		words = words[:last]
	}
	for _, word := range words {
		out = append(out, regexp.MustCompile(`\bN\b|REVISION|…`).ReplaceAllString(word, "1"))
	}
	return out
}

// The same for kubectl, etcdctl and helm, which parse their own commands: with --help, they do nothing else.
func TestPrintedCommandsOfOtherProgramsExist(t *testing.T) {
	all := slices.Concat(printedOnPages(t), printedInMessages(t))
	seen := map[string]bool{}
	for _, p := range all {
		line := strings.Join(p.words, " ")
		if _, isOurs := p.arguments(); isOurs || seen[line] || len(p.words) < 2 || !isCommand(p) {
			continue
		}
		seen[line] = true
		path := filepath.Join(repository, "bin", "tools", p.words[0])
		if _, err := os.Stat(path); err != nil {
			t.Fatalf("%v: make test-tools builds it", err)
		}
		out, err := exec.CommandContext(t.Context(), path, append(filledIn(p.words[1:]), "--help")...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), p.words[0]+" "+p.words[1]) {
			t.Errorf("%s: %s: %v\n%.300s", p.from, line, err, out)
		}
	}
	if len(seen) < 15 {
		t.Errorf("checked only %d commands: %v", len(seen), seen)
	}
}

// isCommand reports whether the second word can be a command: sentences begin with the name of a program, too.
func isCommand(p printed) bool {
	return !slices.Contains([]string{"is", "does", "that", "are", "and", "explain", "reads", "shows", "takes", "calls", "krew"}, p.words[1]) && regexp.MustCompile(`^[a-z]`).MatchString(p.words[1])
}
