package gitops

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// commit matches an action at a commit, with its version for readers. A tag could be moved to other code.
var commit = regexp.MustCompile(`^[a-z-]+/[a-z-]+@[0-9a-f]{40} # v[0-9.]+$`)

// The sample and our own workflows have no finding of the linter of GitHub Actions. Our own run only actions at a commit.
func TestWorkflows(t *testing.T) {
	ours, err := filepath.Glob(root + "/.github/workflows/*")
	if err != nil || len(ours) != 2 {
		t.Fatalf("wanted the workflows test and release, found %v, %v", ours, err)
	}
	for _, file := range append(ours, root+"/config/gitops/github.yaml") {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if findings := lint(t, data); len(findings) > 0 {
			t.Errorf("%s: %v", file, findings)
		}
		if broken := lint(t, bytes.Replace(data, []byte("runs-on:"), []byte("runs_on:"), 1)); len(broken) == 0 {
			t.Errorf("%s: the linter accepts a key that does not exist", file)
		}
		if !slices.Contains(ours, file) {
			continue
		}
		for line := range strings.Lines(string(data)) {
			if _, action, found := strings.Cut(line, "uses: "); found && !commit.MatchString(strings.TrimSpace(action)) {
				t.Errorf("%s: wanted an action at a commit and its version, found %s", file, action)
			}
		}
	}
}

func lint(t *testing.T, workflow []byte) []*actionlint.Error {
	t.Helper()
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	project, err := actionlint.NewProject(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	findings, err := linter.Lint("workflow.yaml", workflow, project)
	if err != nil {
		t.Fatal(err)
	}
	return findings
}

// The objects of the CronJob are those of the Kubernetes API, without an unknown field.
func TestCronJobSample(t *testing.T) {
	data, err := os.ReadFile(root + "/config/gitops/cronjob.yaml")
	if err != nil {
		t.Fatal(err)
	}
	decoder := serializer.NewCodecFactory(clientgoscheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	var kinds []string
	for _, document := range bytes.Split(data, []byte("\n---\n")) {
		o, kind, err := decoder.Decode(document, nil, nil)
		if err != nil {
			t.Fatalf("%v: %v", kind, err)
		}
		kinds = append(kinds, kind.Kind)
		checkCronJob(t, o)
	}
	if strings.Join(kinds, " ") != "ServiceAccount Role RoleBinding CronJob" {
		t.Errorf("found %v", kinds)
	}
}

// checkCronJob: neither Kubernetes nor a second start may repeat a benchmark that failed.
func checkCronJob(t *testing.T, o runtime.Object) {
	t.Helper()
	c, ok := o.(*batchv1.CronJob)
	if !ok {
		return
	}
	if job := c.Spec.JobTemplate.Spec; c.Spec.ConcurrencyPolicy != batchv1.ForbidConcurrent || job.BackoffLimit == nil || *job.BackoffLimit != 0 {
		t.Errorf("the CronJob can run a benchmark twice: %+v", c.Spec)
	}
}
