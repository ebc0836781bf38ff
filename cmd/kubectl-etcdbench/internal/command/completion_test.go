package command

import (
	"slices"
	"strings"
	"testing"
)

// completed returns what a shell is offered for a command line, without descriptions, and the directive after it.
func completed(t *testing.T, args ...string) (words []string, directive string) {
	t.Helper()
	c := call("", slices.Concat([]string{"__complete"}, args)...)
	c.wantStatus(t, exitDone)
	lines := strings.Split(strings.TrimSpace(c.out.String()), "\n")
	for _, line := range lines[:len(lines)-1] {
		word, _, _ := strings.Cut(line, "\t")
		words = append(words, word)
	}
	return words, lines[len(lines)-1]
}

func TestCompletionOfNames(t *testing.T) {
	run := createdRun(t)
	call(smallSuite, "run", "-f", "-", "-n", run.Namespace, "--timeout", "1ms").wantStatus(t, exitUnknown)
	s := nightly(t, run.Namespace)
	for name, tc := range map[string]struct {
		args []string
		want []string
	}{
		"watch":                    {[]string{"watch", ""}, []string{"puts", "suite/small"}},
		"watch, the beginning":     {[]string{"watch", "p"}, []string{"puts"}},
		"stop":                     {[]string{"stop", ""}, []string{"puts", "suite/small"}},
		"logs":                     {[]string{"logs", ""}, []string{"puts"}},
		"logs, a second name":      {[]string{"logs", "puts", ""}, nil},
		"report":                   {[]string{"report", ""}, []string{"puts", "schedule/" + s.Name, "suite/small"}},
		"compare":                  {[]string{"compare", ""}, []string{"puts"}},
		"compare, a list of names": {[]string{"compare", "a,"}, []string{"a,puts"}},
		"the namespace":            {[]string{"watch", "-n", run.Namespace}, []string{run.Namespace}},
	} {
		t.Run(name, func(t *testing.T) {
			args := slices.Insert(tc.args, 1, "--kubeconfig", apiServer.kubeconfig, "-n", run.Namespace)
			words, _ := completed(t, args...)
			slices.Sort(words)
			if !slices.Equal(words, tc.want) {
				t.Errorf("wanted %q, got %q", tc.want, words)
			}
		})
	}
}

func TestCompletionWithoutACluster(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want []string
		// wantDirective is a number of cobra.ShellCompDirective.
		wantDirective string
	}{
		"reasons":           {[]string{"explain", "NoQ"}, []string{"NoQuorum"}, ":4"},
		"a second reason":   {[]string{"explain", "NoQuorum", "NoQ"}, nil, ":4"},
		"samples":           {[]string{"samples", "suite-e"}, []string{"suite-etcd-2-2", "suite-etcd-page", "suite-etcd-pods"}, ":4"},
		"kinds":             {[]string{"list", "s"}, []string{"schedules", "suites"}, ":4"},
		"forms of a run":    {[]string{"run", "-o", "j"}, []string{"json", "junit", "jsonl"}, ":4"},
		"forms of a report": {[]string{"report", "-o", "j"}, []string{"json", "junit"}, ":4"},
		"forms of a list":   {[]string{"list", "-o", ""}, []string{"table", "json", "yaml", "name"}, ":4"},
		"modes of a check":  {[]string{"run", "--dry-run="}, []string{"client", "server"}, ":4"},
		"profiles":          {[]string{"check", "--profile", "L"}, []string{"Large"}, ":4"},
		"manifests":         {[]string{"run", "-f", ""}, []string{"yaml", "yml", "json"}, ":8"},
		"folders":           {[]string{"run", "--tls-dir", ""}, nil, ":16"},
		"files of a report": {[]string{"report", "--kubeconfig", "/no/such/file", ""}, nil, ":32"},
		"names, no cluster": {[]string{"watch", "--kubeconfig", "/no/such/file", ""}, nil, ":36"},
		"commands":          {[]string{"sa"}, []string{"samples"}, ":4"},
		"no files":          {[]string{"version", ""}, nil, ":4"},
	} {
		t.Run(name, func(t *testing.T) {
			words, directive := completed(t, tc.args...)
			if !slices.Equal(words, tc.want) || directive != tc.wantDirective {
				t.Errorf("wanted %q and %s, got %q and %s", tc.want, tc.wantDirective, words, directive)
			}
		})
	}
}

func TestCompletionOfContexts(t *testing.T) {
	words, _ := completed(t, "watch", "--kubeconfig", apiServer.kubeconfig, "--context", "")
	if len(words) == 0 {
		t.Error("found no context of the kubeconfig")
	}
}

func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		c := call("", "completion", shell)
		c.wantStatus(t, exitDone)
		if !strings.Contains(c.out.String(), "kubectl-etcdbench") || !strings.Contains(c.out.String(), "__complete") {
			t.Errorf("%s: got a script of %d bytes", shell, len(c.out.String()))
		}
	}
}
