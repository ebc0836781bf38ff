package house

import (
	"fmt"
	"slices"
	"strings"
)

// module is the import path before every package of the project.
const module = "github.com/etcdbench/etcd-benchmark-operator/"

// pkg is a package as `go list -json` describes it.
type pkg struct {
	ImportPath string
	// Imports are direct, Deps transitive.
	Imports, Deps []string
	Dir           string
	GoFiles       []string
	Standard      bool
}

// direction forbids packages to depend on others. Paths match whole elements,
// from the left; paths of the project begin with "./".
type direction struct {
	from []string
	// not may not be depended on, directly or through others.
	not []string
	// notDirectly may not be imported; what other packages do with them is theirs.
	notDirectly []string
	why         string
}

// kubernetes without k8s.io/utils, of which etcd itself uses a data structure.
var kubernetes = []string{"k8s.io/api", "k8s.io/apimachinery", "k8s.io/client-go", "sigs.k8s.io/controller-runtime"}

// directions are the rules of docs/architecture.md.
func directions() []direction {
	return []direction{
		{from: []string{"./api"}, not: []string{"./controllers", "./internal", "./cmd", "k8s.io/client-go/kubernetes", "go.etcd.io"},
			why: "the API is data"},
		{from: []string{"./internal/plan"}, not: []string{"./api", "./controllers", "./internal/results", "./internal/load", "k8s.io", "sigs.k8s.io", "go.etcd.io", "google.golang.org", "github.com/prometheus"},
			why: "the contract in is the standard library only"},
		{from: []string{"./internal/results"}, not: append([]string{"./api", "./controllers", "./internal/plan", "./internal/load", "go.etcd.io"}, kubernetes...),
			why: "the contract out is the standard library and Prometheus types"},
		{from: []string{"./internal/load"}, not: append([]string{"./api", "./controllers", "./internal/datastore", "go.etcd.io"}, kubernetes...),
			why: "the engine knows neither a datastore nor Kubernetes"},
		{from: []string{"./internal/datastore", "./cmd/loadgen"}, not: append([]string{"./api", "./controllers"}, kubernetes...),
			why: "a client pod is free of Kubernetes"},
		{from: []string{"./internal/benchmark"}, not: []string{"./controllers", "./internal/load", "./internal/datastore", "go.etcd.io", "k8s.io/client-go/kubernetes"},
			why: "translation between object and contracts is pure"},
		{from: []string{"./controllers", "./internal/uninstall", "./cmd/manager"}, not: []string{"./internal/load", "./internal/datastore", "go.etcd.io"},
			why: "the operator never talks to etcd"},
		{from: pure(), notDirectly: []string{"context", "os", "net/http", "math/rand", "log", "log/slog", "sync", "sigs.k8s.io/controller-runtime", "k8s.io/client-go"},
			why: "a pure package has no client, context, logger or goroutine"},
	}
}

// pure lists the packages that turn values into values.
func pure() []string {
	return []string{
		"./internal/plan", "./internal/results", "./internal/benchmark", "./internal/load/arrival", "./internal/load/guard", "./internal/load/members", "./internal/load/workload",
		"./controllers/internal/lifecycle", "./controllers/internal/resources",
	}
}

// violations returns a line for each dependency that a direction forbids.
func violations(packages []pkg, rules []direction) []string {
	var lines []string
	for _, p := range packages {
		for _, rule := range rules {
			if !isBelowAny(p.ImportPath, rule.from) {
				continue
			}
			lines = append(lines, rule.broken(p)...)
		}
	}
	slices.Sort(lines)
	return lines
}

func (d direction) broken(p pkg) []string {
	var lines []string
	for _, dep := range p.Deps {
		if isBelowAny(dep, d.not) && !isBelowAny(dep, d.from) {
			lines = append(lines, fmt.Sprintf("%s depends on %s: %s", p.ImportPath, dep, d.why))
		}
	}
	for _, imported := range p.Imports {
		if isBelowAny(imported, d.notDirectly) && !isBelowAny(imported, allowedBelow()) {
			lines = append(lines, fmt.Sprintf("%s imports %s: %s", p.ImportPath, imported, d.why))
		}
	}
	return lines
}

// allowedBelow are parts of forbidden trees that hold types or pure functions:
// apply configurations are data, atomics are memory.
func allowedBelow() []string {
	return []string{"k8s.io/client-go/applyconfigurations", "sync/atomic", "net/netip", "sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"}
}

func isBelowAny(path string, roots []string) bool {
	if inProject, ok := strings.CutPrefix(path, module); ok {
		path = "./" + inProject
	}
	return slices.ContainsFunc(roots, func(root string) bool {
		return path == root || strings.HasPrefix(path, root+"/")
	})
}
