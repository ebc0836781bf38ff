package command

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// everyCommand calls a function with each command of the plugin.
func everyCommand(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, c := range cmd.Commands() {
		everyCommand(c, do)
	}
}

func TestEachHelpIsShort(t *testing.T) {
	root := (&tool{kube: &kubeFlags{}}).root()
	root.InitDefaultHelpFlag()
	everyCommand(root, func(cmd *cobra.Command) {
		page := helpOfCommand(cmd)
		if n := strings.Count(page, "\n"); n > helpLines || overlong(page) {
			t.Errorf("%s: wanted at most %d lines of at most %d characters, found %d:\n%s", cmd.CommandPath(), helpLines, helpWidth, n, page)
		}
		usage, examples, flags := strings.Index(page, "\nUsage:\n"), strings.Index(page, "\nExamples:\n"), strings.Index(page, "\nFlags:\n")
		if usage < 0 || examples >= 0 && examples < usage || flags < max(usage, examples) {
			t.Errorf("%s: wanted usage, examples, flags in this order:\n%s", cmd.CommandPath(), page)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(page, "--"+f.Name) {
				t.Errorf("%s: --%s is missing", cmd.CommandPath(), f.Name)
			}
		})
	})
}

func TestExplainHasTheWholeHelpOfACommand(t *testing.T) {
	c := call("", "explain", "run")
	if status := c.end(t); status != exitDone {
		t.Fatalf("exit status %d: %s", status, c.err.String())
	}
	for _, want := range []string{suiteExitHelp, "They replace the Secret of spec.target.auth", "--generate-name"} {
		if !strings.Contains(strings.Join(strings.Fields(c.out.String()), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("wanted %q in\n%s", want, c.out.String())
		}
	}
}

func TestFlagsOfOtherToolsAreExplained(t *testing.T) {
	for line, want := range map[string]string{
		"run --auto-compact": "etcdctl compact", "watch --write-out=json a": "not that of etcdctl", "run --total=5": "bench put", "run --paginate": "bench range",
		"watch --kubernetes-nodes=50 a": "check", "run --no-such-flag": "run --help lists the flags",
	} {
		c := call("", strings.Fields(line)...)
		if status := c.end(t); status != exitFailed || !strings.Contains(c.err.String(), want) {
			t.Errorf("%s: wanted %q, found status %d and %q", line, want, status, c.err.String())
		}
	}
}
