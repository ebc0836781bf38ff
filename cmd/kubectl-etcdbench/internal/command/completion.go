package command

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/follow"
	"github.com/etcdbench/etcd-benchmark-operator/config/samples"
)

// completionLimit bounds the calls to a cluster: the user waits at the prompt.
const completionLimit = 3 * time.Second

// completions sets what shells complete for the arguments and flags of all commands.
func (t *tool) completions(root *cobra.Command) {
	arguments := map[string]cobra.CompletionFunc{
		"watch":   atMost(1, t.completeObjects(listRuns, listSuites)),
		"stop":    atMost(1, t.completeObjects(listRuns, listSuites)),
		"logs":    atMost(1, t.completeObjects(listRuns)),
		"report":  orFiles(t.completeObjects(listRuns, listSuites, listSchedules)),
		"compare": atMost(2, orFiles(commaSeparated(t.completeObjects(listRuns)))),
		"list":    completeWords(listKinds...),
		"explain": func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return completeWords(explainedNames()...)(cmd, args, word)
		},
		"samples": atMost(1, completeSamples),
	}
	flags := map[string]map[string]cobra.CompletionFunc{
		"run":     {"dry-run": completeWords(dryRunClient, dryRunServer)},
		"report":  {"output": completeWords(formNames(reportForms)...)},
		"compare": {"output": completeWords(formNames(comparisonForms)...)},
		"list":    {"output": completeWords(listForms...)},
	}
	everywhere := map[string]cobra.CompletionFunc{
		"output": completeWords(formNames(forms)...), "namespace": t.completeNamespaces, "context": t.completeContexts,
		"filename": completeFiles("yaml", "yml", "json"), "tls-dir": completeFolders, "auth-dir": completeFolders,
		"profile": completeWords(profileNames()...),
	}
	for _, cmd := range root.Commands() {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
		if complete := arguments[cmd.Name()]; complete != nil {
			cmd.ValidArgsFunction = beginning(complete)
		}
		all := maps.Clone(everywhere)
		maps.Copy(all, flags[cmd.Name()])
		for name, complete := range all {
			if _, registered := cmd.GetFlagCompletionFunc(name); cmd.Flags().Lookup(name) == nil || registered {
				continue
			}
			// The only errors are an unknown flag and a second function.
			_ = cmd.RegisterFlagCompletionFunc(name, beginning(complete))
		}
	}
}

// beginning leaves out what does not begin with the word at the cursor. Endings of files stay.
func beginning(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		found, directive := complete(cmd, args, word)
		if directive&cobra.ShellCompDirectiveFilterFileExt == 0 {
			found = slices.DeleteFunc(slices.Clone(found), func(c cobra.Completion) bool { return !strings.HasPrefix(c, word) })
		}
		return found, directive
	}
}

func formNames(forms []form) (names []string) {
	for _, f := range forms {
		names = append(names, f.name)
	}
	return names
}

func profileNames() (names []string) {
	for _, p := range slices.Compact(slices.Sorted(maps.Values(profiles))) {
		names = append(names, string(p))
	}
	return names
}

// completeWords completes fixed words.
func completeWords(words ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(args, w) }), cobra.ShellCompDirectiveNoFileComp
	}
}

func completeFiles(endings ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

func completeFolders(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func completeSamples(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	all, err := samples.All()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var out []cobra.Completion
	for _, s := range all {
		out = append(out, cobra.CompletionWithDesc(s.Name, s.About))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// atMost completes nothing after n arguments.
func atMost(n int, complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= n {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(cmd, args, word)
	}
}

// orFiles lets the shell complete files, too.
func orFiles(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		found, directive := complete(cmd, args, word)
		return found, directive &^ cobra.ShellCompDirectiveNoFileComp
	}
}

// commaSeparated completes the last name of a list.
func commaSeparated(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := word[:strings.LastIndex(word, ",")+1]
		found, directive := complete(cmd, args, strings.TrimPrefix(word, before))
		for i := range found {
			found[i] = before + found[i]
		}
		return found, directive
	}
}

// completeObjects completes the names of objects of the cluster, the newest first. Suites and schedules have their kind
// before the name.
func (t *tool) completeObjects(kinds ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var found []cobra.Completion
		t.askCluster(func(ctx context.Context, cluster *follow.Cluster, namespace string) error {
			rows, err := listed(ctx, cluster, namespace, kinds)
			for _, r := range rows {
				name := strings.TrimPrefix(r.word+r.object.GetName(), "run/")
				found = append(found, cobra.CompletionWithDesc(name, r.state))
			}
			return err
		})
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

func (t *tool) completeNamespaces(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var found []cobra.Completion
	t.askCluster(func(ctx context.Context, cluster *follow.Cluster, _ string) (err error) {
		found, err = cluster.Namespaces(ctx)
		return err
	})
	return found, cobra.ShellCompDirectiveNoFileComp
}

// askCluster asks the cluster of the flags. Without an answer in time, the shell completes nothing.
func (t *tool) askCluster(ask func(ctx context.Context, cluster *follow.Cluster, namespace string) error) {
	cluster, namespace, _, err := t.cluster()
	if err != nil {
		cobra.CompDebugln(err.Error(), false)
		return
	}
	ctx, cancel := context.WithTimeout(t.interrupts.leave, completionLimit)
	defer cancel()
	if err := ask(ctx, cluster, namespace); err != nil {
		cobra.CompDebugln(err.Error(), false)
	}
}

func (t *tool) completeContexts(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	config, err := t.kube.loader().RawConfig()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return slices.Sorted(maps.Keys(config.Contexts)), cobra.ShellCompDirectiveNoFileComp
}
