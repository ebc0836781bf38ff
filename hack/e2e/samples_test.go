//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

// sampleSeconds is long enough for every sample to show its effect.
const sampleSeconds = 6

// checkSamples runs every sample on the counted target, for a shorter time than the sample says. The members' counters
// must agree with the result, and afterwards the store and the leases must be as before.
func checkSamples(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(suite.root, "config", "samples", "etcdbenchmark_*.yaml"))
	if err != nil || len(files) < 10 {
		t.Fatalf("wanted the samples, found %v (%v)", files, err)
	}
	store := putNeighbours(t, suite.counted, neighbours)
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "etcdbenchmark_"), ".yaml")
		sample := shortSample(t, file, "sample-"+strings.ReplaceAll(name, "_", "-"))
		if name == "tls" || sample.Spec.Target.Datastore != "" || sample.Spec.Target.Ephemeral != nil { // they need another target
			continue
		}
		t.Run(name, func(t *testing.T) {
			leases := suite.counted.leases(t)
			before := mustCounters(t, suite.counted)
			b := runToEnd(t, sample)
			requireCompleted(t, b)
			if s := b.Status.Summary; s.MeasuredRequests == 0 || s.FailedRequests > overloaded(b) {
				t.Errorf("wanted measured requests, and none failed; found %d and %d", s.MeasuredRequests, s.FailedRequests)
			}
			requireSameCounts(t, b, mustCounters(t, suite.counted).since(before))
			requireOrderedPercentiles(t, b)
			requireStore(t, suite.counted, store)
			if now := suite.counted.leases(t); now != leases {
				t.Errorf("leases are left:\n%s", now)
			}
		})
	}
}

// shortSample returns a sample for the counted target.
func shortSample(t *testing.T, file, name string) *v1alpha1.EtcdBenchmark {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b := &v1alpha1.EtcdBenchmark{}
	if err := yaml.UnmarshalStrict(text, b); err != nil {
		t.Fatal(err)
	}
	b.Namespace, b.Name = suite.counted.namespace, name
	if b.Spec.Profile == "" && b.Spec.Load.DurationSeconds != nil {
		seconds := int32(sampleSeconds)
		b.Spec.Load.DurationSeconds = &seconds
	}
	hasten(b.Spec.Disturbances)
	return b
}

// hasten shortens the intervals of disturbances, so that each happens twice in the short window.
func hasten(disturbances []spec.Disturbance) {
	for i := range disturbances {
		disturbances[i].EverySeconds = 2
		if expiry := disturbances[i].LeaseExpiry; expiry != nil {
			expiry.Leases, expiry.TTLSeconds = 100, 2
		}
	}
}

// leases returns the leases of the target, as etcdctl lists them.
func (c *etcdCluster) leases(t *testing.T) string {
	t.Helper()
	out, err := c.etcdctl("lease", "list")
	if err != nil {
		t.Fatal(err)
	}
	return out
}
