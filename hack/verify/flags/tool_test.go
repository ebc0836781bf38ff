package flags

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// flag of a command; the command is empty for a flag of all commands.
type flag struct{ command, name string }

// toolFlags returns the flags of etcd's benchmark tool, at the version of a module in hack/tools.
func toolFlags(t *testing.T, module string) map[flag]bool {
	t.Helper()
	download := exec.Command("go", "mod", "download", "-json", "go.etcd.io/etcd/v3")
	download.Dir = filepath.Join("..", "..", "tools", module)
	download.Env = append(os.Environ(), "GOWORK=off")
	out, err := download.Output()
	if err != nil {
		t.Fatalf("getting the sources of %s: %v: %s", module, err, out)
	}
	var source struct{ Dir string }
	if err := json.Unmarshal(out, &source); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(source.Dir, "tools", "benchmark", "cmd", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no sources of the tool in %s (%v)", module, source.Dir, err)
	}
	s := newSources()
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, s.visit)
	}
	return s.flags()
}

// sources has the findings, by the names of the variables that hold commands.
type sources struct {
	// uses has the first word of each command's usage, which is its name.
	uses, parents map[string]string
	declared      []flag
}

func newSources() *sources {
	return &sources{uses: map[string]string{}, parents: map[string]string{}}
}

func (s *sources) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ValueSpec:
		if len(n.Values) == 1 {
			s.command(n.Names[0].Name, n.Values[0])
		}
	case *ast.CallExpr:
		s.call(n)
	}
	return true
}

// command records a variable that holds a command.
func (s *sources) command(variable string, value ast.Expr) {
	ast.Inspect(value, func(n ast.Node) bool {
		if field, ok := n.(*ast.KeyValueExpr); ok {
			if key, ok := field.Key.(*ast.Ident); ok && key.Name == "Use" {
				s.uses[variable] = strings.Fields(text(field.Value))[0]
			}
		}
		return true
	})
}

// call records that a command has a subcommand or a flag.
func (s *sources) call(n *ast.CallExpr) {
	method, ok := n.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	switch on := method.X.(type) {
	case *ast.Ident:
		if method.Sel.Name == "AddCommand" {
			s.parents[n.Args[0].(*ast.Ident).Name] = on.Name
		}
	case *ast.CallExpr:
		set, ok := on.Fun.(*ast.SelectorExpr)
		if ok && strings.HasSuffix(set.Sel.Name, "Flags") && strings.HasSuffix(method.Sel.Name, "Var") {
			s.declared = append(s.declared, flag{set.X.(*ast.Ident).Name, text(n.Args[1])})
		}
	}
}

// text returns the value of a string literal.
func text(e ast.Expr) string {
	literal, ok := e.(*ast.BasicLit)
	if !ok {
		return ""
	}
	out, _ := strconv.Unquote(literal.Value)
	return out
}

// flags returns the flags with the commands as users type them.
func (s *sources) flags() map[flag]bool {
	out := map[flag]bool{}
	for _, f := range s.declared {
		var words []string
		for c := f.command; s.parents[c] != ""; c = s.parents[c] {
			words = append([]string{s.uses[c]}, words...)
		}
		out[flag{strings.Join(words, " "), f.name}] = true
	}
	return out
}
