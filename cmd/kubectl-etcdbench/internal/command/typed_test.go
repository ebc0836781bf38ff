package command

import (
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
)

// commandAfter returns the command that a text prints after these words.
func commandAfter(t *testing.T, text, words string) string {
	t.Helper()
	found := regexp.MustCompile(regexp.QuoteMeta(words) + `(kubectl [^\n]*?)(?:\. |\)| lists | follows | shows |\.?\n|$)`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("found no command after %q in:\n%s", words, text)
	}
	return found[1]
}

// typed begins a command of this plugin in this process. more are further arguments.
func typed(line string, more ...string) *called {
	c := &called{out: &output{}, err: &output{}, signals: make(chan os.Signal, 2), status: make(chan int, 1)}
	go func() {
		c.status <- Main("test", append(wordsOf(line)[2:], more...), Streams{In: strings.NewReader(""), Out: c.out, Err: c.err}, c.signals)
	}()
	return c
}

// wantTyped runs a command as a user types it, and wants an exit status. Commands of this plugin run in this process.
// more are further arguments of these.
func wantTyped(t *testing.T, want int, line string, more ...string) string {
	t.Helper()
	if strings.HasPrefix(line, "kubectl etcdbench ") {
		c := typed(line, more...)
		c.wantStatus(t, want)
		return c.out.String() + c.err.String()
	}
	tools, err := filepath.Abs(filepath.Join(repository, "bin", "tools"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Env = append(os.Environ(), "PATH="+tools+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != want {
		t.Errorf("%s: exit status %d, wanted %d:\n%s", line, got, want, out)
	}
	return string(out)
}

// The commands that messages about a cluster print lead to the same cluster and namespace.
func TestPrintedCommandsOfTheCluster(t *testing.T) {
	run := createdRun(t)
	key := client.ObjectKeyFromObject(run)
	in := []string{"-n", key.Namespace}
	stop := call("", append([]string{"stop", "puts"}, in...)...)
	stop.wantStatus(t, exitDone)
	wantTyped(t, exitUnknown, commandAfter(t, stop.out.String(), "To follow it: "), "--timeout", "1ms")

	left := call("", append([]string{"watch", "puts", "--timeout", "1ms"}, in...)...)
	left.wantStatus(t, exitUnknown)
	wantTyped(t, exitUnknown, commandAfter(t, left.err.String(), "To follow it: "), "--timeout", "1ms")

	logs := call("", append([]string{"logs", "puts"}, in...)...)
	logs.wantStatus(t, exitFailed)
	wantTyped(t, exitUnknown, commandAfter(t, logs.err.String(), "Pending. "), "--timeout", "1ms")

	missing := call("", append([]string{"watch", "run/none"}, in...)...)
	missing.wantStatus(t, exitFailed)
	if got := wantTyped(t, 0, commandAfter(t, missing.err.String(), ": ")); !strings.Contains(got, "puts") {
		t.Errorf("the command does not list the run: %s", got)
	}
	either := call("", append([]string{"watch", "none"}, in...)...)
	either.wantStatus(t, exitFailed)
	if got := wantTyped(t, 0, commandAfter(t, either.err.String(), ": ")); !strings.Contains(got, "puts") {
		t.Errorf("the command does not list the run: %s", got)
	}

	operate(t, key, stage(v1alpha1.ReasonTargetNotFound, metav1.ConditionTrue))
	ended := call("", append([]string{"logs", "puts"}, in...)...)
	ended.wantStatus(t, exitFailed)
	wantTyped(t, 0, commandAfter(t, ended.err.String(), "has no client pods: "))
	operate(t, key, func(s *v1alpha1.EtcdBenchmarkStatus) { s.Pods = []v1alpha1.PodStatus{{Index: 0}} })
	gone := call("", append([]string{"logs", "puts"}, in...)...)
	gone.wantStatus(t, exitFailed)
	if got := wantTyped(t, 0, commandAfter(t, gone.err.String(), "reported last: ")); !strings.Contains(got, "pods:") {
		t.Errorf("the command does not show the pods: %s", got)
	}
	exists := call(puts, append([]string{"run", "-f", "-"}, in...)...)
	exists.wantStatus(t, exitFailed)
	wantTyped(t, 0, commandAfter(t, exists.err.String(), "delete it first ("))

	s := nightly(t, key.Namespace)
	schedule := call("", append([]string{"stop", "schedule/" + s.Name}, in...)...)
	schedule.wantStatus(t, exitFailed)
	wantTyped(t, 0, commandAfter(t, schedule.err.String(), "no further sessions, "))
	if err := apiServer.client.Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil || !s.Spec.Suspend {
		t.Errorf("the schedule goes on (%v)", err)
	}
}

// The page of a result prints the command that repeats it. It works as it is, with the manifest of the page.
func TestThePageRepeatsTheRun(t *testing.T) {
	g := startGuarded(t)
	plain := etcdtest.Start(t, 1, nil).Endpoints[0]
	own := strings.Replace(sweepable, "127.0.0.1:2379", plain, 1)
	for name, tc := range map[string]struct {
		stdin string
		args  []string
	}{
		"its own addresses":  {own, []string{"run", "--local", "-f", "-"}},
		"other addresses":    {sweepable, []string{"run", "--local", "-f", "-", "--endpoints", plain}},
		"own members":        {sweepable, []string{"run", "--local", "-f", "-", "--members", "1"}},
		"TLS and a user":     {sweepable, append([]string{"run", "--local", "-f", "-"}, g.flags()...)},
		"bench":              {"", []string{"bench", "put", "--local", "--total", "20", "--endpoints", plain}},
		"a suite":            {own, []string{"run", "--local", "-f", "-", "--sweep", "load.clients=1,2"}},
		"a suite, elsewhere": {sweepable, []string{"run", "--local", "-f", "-", "--sweep", "load.clients=1,2", "--endpoints", plain}},
		"a suite, members":   {sweepable, []string{"run", "--local", "-f", "-", "--sweep", "load.clients=1,2", "--members", "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			call(tc.stdin, append(tc.args, "-o", "html=page.html")...).wantResult(t)
			g.writeFolders(t)
			typed(saveRepetition(t, "page.html")).wantResult(t)
		})
	}
}

// writeFolders writes the folders that a page names for certificates and a user.
func (g guarded) writeFolders(t *testing.T) {
	t.Helper()
	if err := os.CopyFS("certs", os.DirFS(g.folder)); err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string]string{"username": "root", "password": g.password} {
		if err := os.MkdirAll("user", 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("user", file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// saveRepetition saves the manifest of a page and returns its command.
func saveRepetition(t *testing.T, page string) string {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, last, _ := strings.Cut(string(data), `id="manifest-h"`)
	repeat := regexp.MustCompile(`manifest as (\S+) and run <code>([^<]+)</code>`).FindStringSubmatch(last)
	manifest := regexp.MustCompile(`(?s)<pre tabindex="0">(.*?)</pre>`).FindStringSubmatch(last)
	if repeat == nil || manifest == nil {
		t.Fatalf("found no command in %.500s", last)
	}
	if err := os.WriteFile(repeat[1], []byte(html.UnescapeString(manifest[1])), 0o600); err != nil {
		t.Fatal(err)
	}
	return html.UnescapeString(repeat[2])
}

// In a cluster, the page's command creates the run again under another name, also if it was stopped.
func TestThePageRepeatsTheRunOfACluster(t *testing.T) {
	t.Chdir(t.TempDir())
	run := createdRun(t)
	key := client.ObjectKeyFromObject(run)
	call("", "stop", "puts", "-n", key.Namespace).wantStatus(t, exitDone)
	operate(t, key, stage(v1alpha1.ReasonStopped, metav1.ConditionTrue))
	call("", "report", "puts", "-n", key.Namespace, "-o", "html=page.html").wantStatus(t, exitDone)
	command := saveRepetition(t, "page.html")
	output := wantTyped(t, exitUnknown, command, "--timeout", "1ms", "--kubeconfig", apiServer.kubeconfig)
	created := regexp.MustCompile(`Created the run \S+/(puts-\w+)\.`).FindStringSubmatch(output)
	if created == nil {
		t.Fatalf("created no other run: %s", output)
	}
	if again := awaitRun(t, client.ObjectKey{Namespace: key.Namespace, Name: created[1]}, anyState); again.Spec.Stop {
		t.Error("the other run is stopped, too")
	}
}
