package command

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/admission"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/advice"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/etcdtool"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/manifest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
)

// advisers are the folders whose texts reach the user of a command that loads an etcd.
var advisers = []string{"internal/datastore", "internal/load", "internal/verdict", "internal/benchmark", "internal/lifecycle", "cmd/kubectl-etcdbench/internal/local", "cmd/kubectl-etcdbench/internal/access"}

// everyField translates a text that names a field of a run.
var everyField = advice.Command{Set: true}

// advices returns the texts of the sources that name a field of a run, by file.
func advices(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for path, text := range textsOfSources(t, advisers...) {
		if text = filled.Replace(text); everyField.Text(text) != text {
			all[path] = append(all[path], text)
		}
	}
	if len(all) < 15 {
		t.Fatalf("found texts only in %d files", len(all))
	}
	return all
}

// filled puts values into a format.
var filled = strings.NewReplacer("target.members: %s", "target.members: Leader", "%s", "a word", "%d", "7", "%v", "2s", "%q", `"x"`)

// literal returns the text of a string, or of a sum of strings.
func literal(n ast.Node) (text string, whole bool) {
	switch n := n.(type) {
	case *ast.ImportSpec, *ast.Field:
		return "", true
	case *ast.BasicLit:
		if n.Kind == token.STRING {
			text, _ = strconv.Unquote(n.Value)
		}
		return text, true
	case *ast.BinaryExpr:
		left, _ := literal(n.X)
		right, _ := literal(n.Y)
		return left + right, left != "" && right != ""
	}
	return "", false
}

// adviser is a command without a manifest, with the manifest that its flags make.
type adviser struct {
	advice   advice.Command
	flags    *pflag.FlagSet
	manifest func() (*manifest.Manifest, error)
	set      func(*manifest.Manifest, []string) error
}

// commandsWithoutManifest are check and bench, with the flags that change what they can set.
func commandsWithoutManifest(t *testing.T) map[string]adviser {
	t.Helper()
	tool := &tool{kube: &kubeFlags{}}
	all := map[string]adviser{}
	for name, args := range map[string][]string{"check": nil, "check of nodes": {"--kubernetes-nodes", "50"}} {
		f, cmd := tool.newCheck()
		if err := cmd.Flags().Parse(append(args, "--endpoints", "127.0.0.1:1")); err != nil {
			t.Fatal(err)
		}
		all[name] = adviser{f.adviceOf(), cmd.Flags(), f.manifest, func(m *manifest.Manifest, sets []string) error {
			f.sets = sets
			return f.setFields(m, f.adviceOf())
		}}
	}
	for _, c := range etcdtool.Commands() {
		for name, args := range map[string][]string{"bench " + c.Name: nil, "bench --local " + c.Name: {"--local"}} {
			f, cmd := tool.newBench(c)
			if err := cmd.Flags().Parse(append(args, "--endpoints", "127.0.0.1:1")); err != nil {
				t.Fatal(err)
			}
			arguments := []string{"key"}[:len(c.Arguments)/max(len(c.Arguments), 1)]
			all[name] = adviser{f.adviceOf(cmd.Flags()), cmd.Flags(), func() (*manifest.Manifest, error) { return f.manifest(arguments) }, func(m *manifest.Manifest, sets []string) error {
				f.sets = sets
				return f.setFields(m, f.adviceOf(cmd.Flags()))
			}}
		}
	}
	return all
}

var (
	fixedField = regexp.MustCompile(`[a-z]+\.[a-zA-Z.]+(: \w+)? \(which [a-z -]+ fixes\)`)
	setField   = regexp.MustCompile(`--set ([a-zA-Z.]+)(?:=(\w+))?`)
	namedFlag  = regexp.MustCompile(`--([a-z][a-z-]+)`)
)

// No text tells the user of a command without a manifest to set a field in one. Each flag that a text names in place of a
// field exists, and each value that it names for --set is admitted.
func TestAdviceNamesWhatTheCommandCanSet(t *testing.T) {
	all := advices(t)
	for name, c := range commandsWithoutManifest(t) {
		t.Run(name, func(t *testing.T) {
			for path, texts := range all {
				for _, text := range texts {
					got := c.advice.Text(text)
					if rest := fixedField.ReplaceAllString(got, ""); everyField.Text(rest) != rest {
						t.Errorf("%s: %q still names a field", path, got)
					}
					for _, flag := range namedFlag.FindAllStringSubmatch(got, -1) {
						if defined := c.flags.Lookup(flag[1]); !strings.Contains(text, flag[0]) && !strings.Contains(got, "etcdbench check "+flag[0]) && (defined == nil || defined.Hidden) {
							t.Errorf("%s: %q names the flag %s, which the command lacks", path, got, flag[0])
						}
					}
					for _, set := range setField.FindAllStringSubmatch(got, -1) {
						c.wantSettable(t, path+": "+got, strings.TrimSuffix(set[1], "."), set[2])
					}
				}
			}
		})
	}
}

func (c adviser) wantSettable(t *testing.T, about, field, value string) {
	t.Helper()
	if !manifest.IsField(field) || c.advice.FixedBy(field) != "" {
		t.Errorf("%s: %s cannot be set", about, field)
	}
	if value == "" || value == "VALUE" || strings.Contains(about, "where the workload allows it") {
		return
	}
	m, err := c.manifest()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.set(m, []string{field + "=" + value}); err != nil {
		t.Errorf("%s: %v", about, err)
		return
	}
	if _, err := admitted(admission.Runs, m); err != nil {
		t.Errorf("%s: %v", about, err)
	}
}

// The flag --target-leader has no value: all members get the load without it.
func TestAdviceToLoadAllMembers(t *testing.T) {
	for name, want := range map[string]string{"bench put": "Leave out --target-leader, or", "check": "Add --set target.members=All, or"} {
		if got := commandsWithoutManifest(t)[name].advice.Text("Set spec.target.members: All, or"); got != want {
			t.Errorf("%s: got %q, wanted %q", name, got, want)
		}
	}
}

// clean has no manifest either, and sets only what leads to the target.
func TestAdviceOfClean(t *testing.T) {
	c := (&cleanFlags{}).adviceOf()
	for path, texts := range advices(t) {
		if !regexp.MustCompile(`etcd/(explain|credentials|certificates)|internal/access/`).MatchString(path) {
			continue
		}
		for _, text := range texts {
			if got := c.Text(text); everyField.Text(got) != got {
				t.Errorf("%s: %q still names a field", path, got)
			}
		}
	}
}

// The advice can be followed: the command that it completes runs where the one before was refused.
func TestAdviceCanBeFollowed(t *testing.T) {
	cluster := etcdtest.Start(t, 1, nil)
	endpoint := cluster.Endpoints[0]
	if _, err := cluster.Client(t, "", "").Put(t.Context(), "/registry/pods/default/a", "x"); err != nil {
		t.Fatal(err)
	}
	for name, endpoints := range map[string]string{"control plane": endpoint, "an address that does not answer": endpoint + ",127.0.0.1:1"} {
		t.Run(name, func(t *testing.T) {
			args := []string{"bench", "put", "--local", "--total", "20", "-o", "json", "--endpoints", endpoints}
			for range 3 {
				c := call("", args...)
				status := c.end(t)
				if status == exitDone {
					return
				}
				advised := regexp.MustCompile(`add (--set) ([a-zA-Z.]+=\w+)`).FindStringSubmatch(c.err.String() + c.out.String())
				if advised == nil {
					t.Fatalf("status %d without an advice: %s", status, c.err)
				}
				args = append(args, advised[1:]...)
			}
			t.Errorf("refused with %q", args)
		})
	}
}
