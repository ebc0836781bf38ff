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

// direction forbids packages to depend on others. Paths match whole elements, from the left; paths of the project begin
// with "./".
type direction struct {
	from []string
	// not may not be depended on, directly or indirectly.
	not []string
	// notDirectly may not be imported; indirect dependencies are allowed.
	notDirectly []string
	why         string
}

// kubernetes does not include k8s.io/utils, because etcd itself uses it.
var kubernetes = []string{"k8s.io/api", "k8s.io/apimachinery", "k8s.io/client-go", "sigs.k8s.io/controller-runtime"}

// thirdParty is all code outside the standard library and the project.
var thirdParty = []string{"github.com", "go.etcd.io", "go.uber.org", "golang.org", "google.golang.org", "k8s.io", "sigs.k8s.io"}

// directions are the rules of docs/architecture.md.
func directions() []direction {
	return []direction{
		{from: []string{"./api/spec"}, not: append([]string{"./api/v1alpha1", "./internal", "./controllers", "./cmd"}, thirdParty...),
			why: "the words that API, plan and results share are the standard library only"},
		{from: []string{"./api"}, not: []string{"./controllers", "./internal", "./cmd", "k8s.io/client-go/kubernetes", "go.etcd.io"},
			why: "the API is data"},
		{from: []string{"./internal/text", "./internal/workload", "./internal/plan"}, not: append([]string{"./api/v1alpha1", "./controllers", "./internal/results", "./internal/load"}, thirdParty...),
			why: "the contract in is the standard library only"},
		{from: []string{"./internal/results"}, not: append([]string{"./api/v1alpha1", "./controllers", "./internal/workload", "./internal/plan", "./internal/load", "go.etcd.io"}, kubernetes...),
			why: "the contract out is the standard library and Prometheus types"},
		{from: []string{"./internal/load"}, not: append([]string{"./api/v1alpha1", "./controllers", "./internal/datastore", "go.etcd.io"}, kubernetes...),
			why: "the engine knows neither a datastore nor Kubernetes"},
		{from: []string{"./internal/datastore", "./cmd/loadgen"}, not: append([]string{"./api/v1alpha1", "./controllers"}, kubernetes...),
			why: "a client pod is free of Kubernetes"},
		{from: []string{"./internal/datastore/etcd/fast/eventloop"}, not: []string{"./internal/datastore", "go.etcd.io", "google.golang.org/grpc", "golang.org/x/net/http2"},
			why: "connections know no protocol"},
		{from: []string{"./internal/datastore/exposition", "./internal/datastore/http1", "./internal/datastore/remote", "./internal/datastore/secrets"}, not: []string{"./internal/datastore/etcd", "./internal/datastore/zookeeper", "go.etcd.io", "github.com/go-zookeeper", "google.golang.org/grpc"},
			why: "what drivers share knows no store"},
		{from: []string{"./internal/ownership"}, not: append([]string{"./api/v1alpha1", "./controllers", "./internal/datastore", "go.etcd.io", "github.com/go-zookeeper", "google.golang.org/grpc"}, kubernetes...),
			why: "ownership knows no store"},
		{from: []string{"./internal/datastore/zookeeper"}, not: []string{"./internal/datastore/etcd", "go.etcd.io", "google.golang.org/grpc"},
			why: "a store's driver knows that store alone"},
		{from: []string{"./internal/datastore/etcd"}, not: []string{"./internal/datastore/zookeeper", "github.com/go-zookeeper"},
			why: "a store's driver knows that store alone"},
		{from: []string{"./internal/verdict", "./internal/compare", "./internal/suite", "./internal/search", "./internal/schedule", "./internal/history", "./internal/trend", "./internal/benchmark", "./internal/render", "./internal/lifecycle", "./internal/reasons", "./internal/doctor"}, not: []string{"./controllers", "./internal/load", "./internal/datastore", "go.etcd.io", "k8s.io/client-go/kubernetes"},
			why: "translation between object and contracts, and the decisions about a run, are pure"},
		{from: []string{"./controllers", "./internal/uninstall", "./cmd/manager"}, not: []string{"./internal/load", "./internal/datastore", "go.etcd.io"},
			why: "the operator never talks to etcd"},
		{from: pure(), notDirectly: []string{"context", "os", "net/http", "math/rand", "log", "log/slog", "sync", "sigs.k8s.io/controller-runtime", "k8s.io/client-go"},
			why: "a pure package has no client, context, logger or goroutine"},
	}
}

// pure lists the packages without side effects. internal/trend is one, too, but draws random orders with a fixed seed.
func pure() []string {
	return []string{
		"./api/spec", "./internal/text", "./internal/workload", "./internal/plan", "./internal/ephemeral", "./internal/results", "./internal/verdict", "./internal/compare", "./internal/suite", "./internal/search", "./internal/schedule", "./internal/history", "./internal/benchmark", "./internal/render", "./internal/lifecycle",
		"./internal/load/arrival", "./internal/load/guard", "./internal/load/members", "./controllers/internal/resources",
	}
}

// violations returns a line for each forbidden dependency.
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

// allowedBelow are packages in forbidden trees that only have types or pure functions: apply configurations are data,
// atomics are memory.
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
