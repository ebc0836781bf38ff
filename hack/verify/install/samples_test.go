package install

import (
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestTheAPIServerAcceptsEverySample(t *testing.T) {
	files, err := filepath.Glob(root + "/config/samples/etcdbenchmark_*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("found %d samples: %v", len(files), err)
	}
	namespace := newNamespace(t)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			for _, sample := range readObjects(t, "config/samples/"+filepath.Base(file)) {
				sample.SetNamespace(namespace)
				strict := client.WithFieldValidation(clientAs(t, ""), "Strict")
				if err := strict.Create(t.Context(), &sample); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestTheReadmeShowsTheSampleThatTheDemoRuns(t *testing.T) {
	readme, sample := readText(t, "README.md"), readText(t, "config/samples/etcdbenchmark_put.yaml")
	_, body, found := strings.Cut(sample, "apiVersion:")
	if !found || !strings.Contains(readme, "```yaml\napiVersion:"+body+"```") {
		t.Error("README.md: wanted config/samples/etcdbenchmark_put.yaml without its first comment, found other text: copy it")
	}
}
