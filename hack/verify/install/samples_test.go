package install

import (
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestTheAPIServerAcceptsEverySample(t *testing.T) {
	namespace := newNamespace(t)
	for _, file := range append(filesOf(t, "config/samples/*_*.yaml"), filesOf(t, "config/samples/*/*_*.yaml")...) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			for _, sample := range readObjects(t, file) {
				sample.SetNamespace(namespace)
				strict := client.WithFieldValidation(clientAs(t, ""), "Strict")
				if err := strict.Create(t.Context(), &sample); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestTheReadmeShowsTheFirstSample(t *testing.T) {
	readme, sample := readText(t, "README.md"), readText(t, "config/samples/etcdbenchmark_first.yaml")
	_, body, found := strings.Cut(sample, "apiVersion:")
	if !found || !strings.Contains(readme, "```yaml\napiVersion:"+body+"```") {
		t.Error("README.md: wanted config/samples/etcdbenchmark_first.yaml without its first comment, found other text: copy it")
	}
}
