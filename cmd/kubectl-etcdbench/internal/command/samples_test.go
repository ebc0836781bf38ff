package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/config/samples"
)

// Each sample of the repository is printed as it is, and listed with a sentence.
func TestSamples(t *testing.T) {
	list := call("", "samples")
	list.wantStatus(t, exitDone)
	for _, file := range append(samplesOf(t, "*.yaml"), samplesOf(t, "published/*.yaml")...) {
		name := sampleName(filepath.Base(file))
		if name == "kustomization" {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := call("", "samples", name)
		c.wantStatus(t, exitDone)
		if c.out.String() != string(data) {
			t.Errorf("%s: the sample differs from its file", name)
		}
		if !strings.Contains("\n"+list.out.String(), "\n"+name+" ") {
			t.Errorf("%s is not in the list", name)
		}
	}
}

func TestASampleSaysWhatItIsFor(t *testing.T) {
	all, err := samples.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if len(s.About) < 20 || strings.Contains(s.About, "#") {
			t.Errorf("%s: got %q", s.Name, s.About)
		}
	}
}

func TestASampleRuns(t *testing.T) {
	sample := call("", "samples", "etcdbenchmark_slow.yaml")
	sample.wantStatus(t, exitDone)
	c := call(sample.out.String(), "run", "--local", "--members", "1", "-f", "-", "--dry-run")
	c.wantStatus(t, exitDone)
}

func TestAnUnknownSample(t *testing.T) {
	c := call("", "samples", "sute-etcd-page")
	c.wantStatus(t, exitFailed)
	if !strings.Contains(c.err.String(), "did you mean suite-etcd-page?") {
		t.Errorf("got %s", c.err)
	}
}
