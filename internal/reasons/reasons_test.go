package reasons

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables into the documentation")

var root = filepath.Join("..", "..")

// Kinds that tests name.
const verdict, comparison Kind = "verdict (condition Passed)", "comparison without a verdict"

// named matches the names of constants that are reasons.
var named = regexp.MustCompile(`^(Reason|Stage|Cause|Resource|Capacity)[A-Z]`)

// constants returns the values of the API's constants that are reasons, by name.
func constants(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "api", "v1alpha1", "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d files: %v", len(files), err)
	}
	found := map[string]string{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range parsed.Decls {
			if d, ok := declaration.(*ast.GenDecl); ok && d.Tok == token.CONST {
				maps.Copy(found, reasonsOf(d))
			}
		}
	}
	return found
}

func reasonsOf(d *ast.GenDecl) map[string]string {
	found := map[string]string{}
	for _, s := range d.Specs {
		v := s.(*ast.ValueSpec)
		for i, value := range v.Values {
			literal, ok := value.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING || !named.MatchString(v.Names[i].Name) {
				continue
			}
			text, _ := strconv.Unquote(literal.Value)
			found[v.Names[i].Name] = text
		}
	}
	return found
}

func TestEveryReasonOfTheAPIHasAnEntry(t *testing.T) {
	found := constants(t)
	if len(found) < 80 {
		t.Errorf("found %d constants, wanted those of the whole API", len(found))
	}
	for name, value := range found {
		if len(Find(value)) == 0 {
			t.Errorf("%s (%q) has no entry", name, value)
		}
	}
	values := slices.Collect(maps.Values(found))
	for _, e := range All() {
		if e.Part == "" && !slices.Contains(values, e.Name) {
			t.Errorf("%s: the API has no such reason", e.Name)
		}
	}
}

// withoutSpec matches a field of a run that is not named as in its manifest.
var withoutSpec = regexp.MustCompile("`(target|workload|load|guard|pod|objectives)\\.[a-z]\\w*")

func TestEntriesAreComplete(t *testing.T) {
	seen := map[Entry]bool{}
	for _, e := range All() {
		id := Entry{Kind: e.Kind, Name: e.Name}
		if seen[id] {
			t.Errorf("%s is twice in %q", e.Name, e.Kind)
		}
		seen[id] = true
		if !strings.HasSuffix(e.Meaning, ".") || e.Action != "" && !strings.HasSuffix(e.Action, ".") {
			t.Errorf("%s: wanted whole sentences, found %q and %q", e.Name, e.Meaning, e.Action)
		}
		if field := withoutSpec.FindString(e.Meaning + e.Action); field != "" {
			t.Errorf("%s: found the field %s, wanted it as spec.X", e.Name, field)
		}
		if strings.Count(e.Meaning+e.Action, "`")%2 != 0 || strings.Contains(e.Meaning+e.Action, "|") {
			t.Errorf("%s cannot stand in a table: %q %q", e.Name, e.Meaning, e.Action)
		}
		if !slices.Contains(Kinds(), e.Kind) {
			t.Errorf("%s: the kind %q is not in Kinds", e.Name, e.Kind)
		}
	}
	for _, k := range Kinds() {
		if _, err := os.Stat(filepath.Join(root, k.Page())); err != nil || len(Of(k)) == 0 {
			t.Errorf("%q: found %d entries, and its page: %v", k, len(Of(k)), err)
		}
	}
}

func TestFind(t *testing.T) {
	found := Find("tailtoothin")
	if len(found) != 2 || found[0].Kind != verdict || found[1].Kind != comparison {
		t.Errorf("wanted the verdict and the comparison, got %+v", found)
	}
	if len(Find("TailTooThick")) > 0 {
		t.Error("found a reason that does not exist")
	}
	if names := Names(); !slices.IsSorted(names) || !slices.Contains(names, "ClientBound") || slices.Contains(slices.Compact(slices.Clone(names)), "") {
		t.Errorf("got %v", names)
	}
}

// tables are the tables in the documentation that are made of entries, by page and the word in their comment.
var tables = map[string]map[string]struct {
	kind    Kind
	heading string
}{
	"docs/results.md":   {"stages": {"stage of a run", "stage"}},
	"docs/reasons.md":   {"ends": {"end of a run", "reason of `Finished`"}, "keys": {"keys in the target (condition Cleaned)", "reason of `Cleaned`"}},
	"docs/suites.md":    {"suites": {"end of a suite, or of one of its runs", "reason"}},
	"docs/verdict.md":   {"concerns": {"concern about the whole run", "reason"}},
	"docs/compare.md":   {"comparisons": {comparison, "reason of `Unknown`"}},
	"docs/schedules.md": {"schedules": {"condition of a schedule", "reason"}},
}

// The tables between comments with "reasons:" are those of this package. go test -update writes them.
func TestTheTablesInTheDocumentation(t *testing.T) {
	for page, blocks := range tables {
		path := filepath.Join(root, page)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		for word, table := range blocks {
			before, rest, begins := strings.Cut(text, "<!-- reasons:"+word+" -->\n")
			_, after, ends := strings.Cut(rest, "<!-- end -->")
			if !begins || !ends {
				t.Errorf("%s has no comments <!-- reasons:%s --> and <!-- end -->", page, word)
				continue
			}
			text = before + "<!-- reasons:" + word + " -->\n" + tableOf(table.kind, table.heading) + "<!-- end -->" + after
		}
		if text == string(data) {
			continue
		}
		if !*update {
			t.Errorf("%s: a table differs from this package: go test ./internal/reasons -update", page)
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// written are tables with more columns, which are written by hand: they have the same reasons.
func TestTablesWrittenByHandHaveTheSameReasons(t *testing.T) {
	for kind, head := range map[Kind]string{
		verdict: "| `Passed` | reason |", "cause in status.summary.validity": "| cause | found if |", "evidence (where the time went)": "| resource | named if |", "state of a search for the highest rate": "| state | meaning | what to do |",
	} {
		data, err := os.ReadFile(filepath.Join(root, kind.Page()))
		if err != nil {
			t.Fatal(err)
		}
		_, table, found := strings.Cut(string(data), head)
		table, _, _ = strings.Cut(table, "\n\n")
		if !found {
			t.Errorf("%s has no table that begins with %q", kind.Page(), head)
		}
		for _, e := range Of(kind) {
			// No run has the verdicts and states of suites.
			if e.Name != "Regressed" && e.Name != "Searching" && !strings.Contains(table, "| `"+e.Name+"` |") {
				t.Errorf("the table in %s has no row for %s", kind.Page(), e.Name)
			}
		}
		for _, row := range regexp.MustCompile("(?m)^\\| `([A-Z][a-z]\\w+)` \\|").FindAllStringSubmatch(table, -1) {
			if kind != verdict && len(Find(row[1])) == 0 {
				t.Errorf("%s has a row for %s, which has no entry", kind.Page(), row[1])
			}
		}
	}
}

// Pages name only reasons that exist: the first column of the tables in docs/safety.md.
func TestReasonsInTheSafetyPage(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "docs", "safety.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(data), "## Before the first write")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)` \\|").FindAllStringSubmatch(section, -1)
	if len(rows) < 8 {
		t.Fatalf("found %d rows", len(rows))
	}
	for _, row := range rows {
		if len(Find(row[1])) == 0 {
			t.Errorf("docs/safety.md has a row for %s, which has no entry", row[1])
		}
	}
}

// Each warning that a summary can have has an entry, and each entry is about such a warning.
func TestEveryWarningHasAnEntry(t *testing.T) {
	var texts []string
	for _, file := range []string{"internal/verdict/warnings.go", "internal/datastore/etcd/learners.go", "internal/datastore/etcd/restricted.go", "controllers/etcdbenchmark_report.go", "internal/lifecycle/status.go", "cmd/kubectl-etcdbench/internal/local/target.go"} {
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				texts = append(texts, beginning(e))
			}
			if call, ok := n.(*ast.CallExpr); ok {
				if format := warned(call); format != "" {
					if _, found := OfWarning(format); !found {
						t.Errorf("%s: the warning %q has no entry", file, format)
					}
				}
			}
			return true
		})
	}
	for _, e := range Of("warning in status.summary.warnings") {
		if e.Part == "" || !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, e.Part) }) {
			t.Errorf("%s: no warning contains %q", e.Name, e.Part)
		}
	}
}

// warned is the sentence of a call that adds a warning; empty for other calls, and for a sentence that a function makes.
func warned(call *ast.CallExpr) string {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != "add" && f.Sel.Name != "AppendWarning" || len(call.Args) < 2 {
		return ""
	}
	return strings.TrimPrefix(beginning(call.Args[1]), "%s")
}

// beginning is the text with which a concatenation of texts and variables begins.
func beginning(e ast.Expr) string {
	text, _ := literals(e)
	return text
}

// literals is the text of an expression up to its first variable. whole is true if there is none.
func literals(e ast.Expr) (text string, whole bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return text, true
		}
	case *ast.BinaryExpr:
		left, whole := literals(e.X)
		if !whole {
			return left, false
		}
		right, whole := literals(e.Y)
		return left + right, whole
	}
	return "", false
}

func TestOfWarning(t *testing.T) {
	e, found := OfWarning("the members run different versions: 3.5.1, 3.6.0")
	if !found || e.Name != "DifferentVersions" || e.Part == "" {
		t.Errorf("got %+v", e)
	}
	if _, found := OfWarning("all is well"); found {
		t.Error("found an entry for a sentence that is no warning")
	}
}

// tableOf returns the entries of a kind as a Markdown table.
func tableOf(kind Kind, heading string) string {
	var b strings.Builder
	b.WriteString("| " + heading + " | meaning | what to do |\n|---|---|---|\n")
	for _, e := range Of(kind) {
		b.WriteString("| `" + e.Name + "` | " + e.Meaning + " | " + e.Action + " |\n")
	}
	return b.String()
}
