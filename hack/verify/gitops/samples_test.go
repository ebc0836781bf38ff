package gitops

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// The workflow has no finding of the linter of GitHub Actions.
func TestGitHubSample(t *testing.T) {
	data, err := os.ReadFile(root + "/config/gitops/github.yaml")
	if err != nil {
		t.Fatal(err)
	}
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	project, err := actionlint.NewProject(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for text, valid := range map[string]bool{string(data): true, strings.Replace(string(data), "runs-on:", "runs_on:", 1): false} {
		findings, err := linter.Lint("benchmark.yaml", []byte(text), project)
		if err != nil || (len(findings) == 0) != valid {
			t.Errorf("valid: %v, found %v, %v", valid, findings, err)
		}
	}
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
