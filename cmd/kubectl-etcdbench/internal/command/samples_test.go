package command

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/config/samples"
)

// Each sample of the repository is printed as it is, and listed with a sentence.
func TestSamples(t *testing.T) {
	list := call("", "samples")
	list.wantStatus(t, exitDone)
	files := samplesOf(t, "*.yaml")
	if len(files) < 30 {
		t.Fatalf("found %d samples", len(files))
	}
	for _, file := range files {
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

// The object of a sample has the name of its file, and each folder lists its own.
func TestASampleIsNamedAsItsFile(t *testing.T) {
	for _, file := range samplesOf(t, "*_*.yaml") {
		var object struct{ Metadata struct{ Name string } }
		data, err := os.ReadFile(file)
		if err == nil {
			err = yaml.Unmarshal(data, &object)
		}
		list, errList := os.ReadFile(filepath.Join(filepath.Dir(file), "kustomization.yaml"))
		if err := errors.Join(err, errList); err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(strings.TrimPrefix(sampleName(filepath.Base(file)), "suite-"), "schedule-")
		if object.Metadata.Name != name {
			t.Errorf("%s: wanted the name %s, found %s", file, name, object.Metadata.Name)
		}
		if !strings.Contains(string(list), "- "+filepath.Base(file)+"\n") {
			t.Errorf("%s is not in the kustomization.yaml beside it", file)
		}
	}
}
