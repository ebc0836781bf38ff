package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/workload"
)

// naming limits the files that may name things of a kind. Other files use a table, so that one more of the kind needs
// only one more row.
type naming struct {
	// kind is what error messages call it.
	kind string
	// names reports whether a qualified name, as written, is of the kind.
	names func(name string) bool
	// files may name them. Each is a path, or a folder with all files below it.
	files []string
}

// namings are the rules of docs/development.md. Tests, and programs that only developers run, may name anything.
func namings() []naming {
	return []naming{
		{
			kind:  "a workload",
			names: isWorkload,
			files: []string{
				"api/spec", "internal/workload", "api/v1alpha1/profile.go", "api/v1alpha1/kubernetes.go", "internal/runtest", "internal/datastore/faulttest",
				// Each command of etcd's tool is a workload.
				"cmd/kubectl-etcdbench/internal/etcdtool",
				// The file of etcd's rw-heatmaps has the settings of one workload.
				"cmd/kubectl-etcdbench/internal/report/rwheatmaps.go",
				// Settings that only one driver uses.
				"internal/datastore/consul/sessions.go", "internal/datastore/etcd/driver.go", "internal/datastore/etcd/lease.go", "internal/datastore/etcd/stm.go",
			},
		},
		{
			kind: "a datastore",
			names: func(name string) bool {
				store, ok := strings.CutPrefix(name, "spec.")
				return ok && slices.Contains(spec.Datastores(), spec.Datastore(store))
			},
			files: []string{
				"api/spec", "internal/workload/stores.go", "internal/datastore/datastore.go", "internal/ephemeral/ephemeral.go", "internal/runtest",
			},
		},
		{
			// Every store has Client, which is the reference for comparisons.
			kind: "a transport",
			names: func(name string) bool {
				transport, ok := strings.CutPrefix(name, "spec.Transport")
				return ok && slices.Contains([]string{"Fast", "JSON", "V2"}, transport)
			},
			files: []string{"api/spec", "internal/datastore/etcd/fastconn.go", "internal/datastore/etcd/jsonconn.go", "internal/datastore/etcd/v2conn.go"},
		},
		{
			kind:  "a form of output",
			names: func(name string) bool { return name == "render.Perfdash" || name == "render.WriteTable" },
			files: []string{"cmd/kubectl-etcdbench/internal/command/output.go", "cmd/kubectl-etcdbench/internal/report/perfdash.go", "cmd/kubectl-etcdbench/internal/screen"},
		},
	}
}

// isWorkload reports whether a name is a type of workload, its settings, or the field with them.
func isWorkload(name string) bool {
	for _, before := range []string{"spec.Workload", "spec.", "Workload.", "w."} {
		if word, ok := strings.CutPrefix(name, before); ok && slices.Contains(workload.Types(), spec.WorkloadType(word)) {
			return true
		}
	}
	return false
}

// qualified returns the last two parts of each qualified name in a file, such as
// spec.Etcd.
func qualified(file string) (names []string, err error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		switch x := s.X.(type) {
		case *ast.Ident:
			names = append(names, x.Name+"."+s.Sel.Name)
		case *ast.SelectorExpr:
			names = append(names, x.Sel.Name+"."+s.Sel.Name)
		}
		return true
	})
	return names, nil
}

// misnamed returns the files below root that break a rule.
func misnamed(root string, rules []naming) (lines []string, err error) {
	err = filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		own, err := filepath.Rel(root, path)
		if err != nil || entry.IsDir() && slices.Contains([]string{"hack", "bin", ".git"}, own) {
			return orSkip(err)
		}
		if entry.IsDir() || !strings.HasSuffix(own, ".go") || strings.HasSuffix(own, "_test.go") {
			return nil
		}
		names, err := qualified(path)
		for _, rule := range rules {
			if !isUnderAny(filepath.ToSlash(own), rule.files) && slices.ContainsFunc(names, rule.names) {
				lines = append(lines, own+" names "+rule.kind)
			}
		}
		return err
	})
	return lines, err
}

func orSkip(err error) error {
	if err != nil {
		return err
	}
	return filepath.SkipDir
}

// isUnderAny reports whether a path is one of the files, or lies below one of the folders.
func isUnderAny(path string, files []string) bool {
	return slices.ContainsFunc(files, func(f string) bool { return path == f || strings.HasPrefix(path, f+"/") })
}
