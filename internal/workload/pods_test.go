package workload

import (
	"bytes"
	"compress/flate"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
)

func podValues(least, most int32) spec.Values {
	return spec.Values{SizeBytes: most, MinSizeBytes: &least, Content: spec.ContentPod, SizeDistribution: spec.SizesUniform}
}

// decoded reads a value as an API server does.
func decoded(t *testing.T, value []byte) *corev1.Pod {
	t.Helper()
	data, found := bytes.CutPrefix(value, []byte("k8s\x00"))
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(data); err != nil || !found || envelope.Kind != "Pod" || envelope.APIVersion != "v1" {
		t.Fatalf("found the prefix: %v, the object %s %s, and %v", found, envelope.APIVersion, envelope.Kind, err)
	}
	pod := &corev1.Pod{}
	if err := pod.Unmarshal(envelope.Raw); err != nil {
		t.Fatal(err)
	}
	return pod
}

// A program that reads Pods from etcd can read the values, and each is another Pod.
func TestValuesAreDifferentPods(t *testing.T) {
	w := valuesOf(podValues(3_200, 40_000))
	seen := map[string]bool{}
	for number := range int64(300) {
		pod := decoded(t, w.Value(number))
		last := pod.Status.ContainerStatuses[1]
		for _, id := range []string{string(pod.UID), last.ContainerID, pod.Name + pod.Status.PodIP + pod.Spec.NodeName} {
			if seen[id] || strings.ContainsRune(id, idMark) || id == "" {
				t.Fatalf("Pod %d has %q, which another has, too, or which is incomplete", number, id)
			}
			seen[id] = true
		}
		if pod.Namespace != "default" || pod.Status.Phase != corev1.PodRunning || len(pod.Spec.Containers) != 2 || pod.ManagedFields[1].Manager != "kubelet" || last.Name != "sidecar" {
			t.Fatalf("Pod %d is %+v", number, pod)
		}
		for _, text := range pod.Annotations {
			if len(text) > 0 && number == 7 && !strings.Contains(text, `"value":"`) {
				t.Errorf("the annotation is %.80q", text)
			}
		}
	}
}

// A short value is the beginning of a Pod, and the length is always the one that was asked for.
func TestPodsHaveEachLength(t *testing.T) {
	for _, size := range []int32{0, 1, 100, 3_000, 3_200, 9_000, 70_000} {
		w := valuesOf(podValues(size, size))
		if v := w.Value(5); len(v) != int(size) || size > 4 && string(v[:4]) != "k8s\x00" {
			t.Errorf("wanted %d bytes, found %d: %.20q", size, len(v), v)
		}
	}
	if n := len(newPodMaker(1, 0).pod); n > 3_200 {
		t.Errorf("the shortest whole Pod has %d bytes; the API says 3200", n)
	}
}

// Names and texts of a Pod repeat, and its IDs do not: a disk that compresses gains something, but not all.
func TestPodsAreAsCompressibleAsPods(t *testing.T) {
	for _, size := range []int32{3_200, 9_000, 20_000} {
		w := valuesOf(podValues(size, size))
		var out bytes.Buffer
		compressor, err := flate.NewWriter(&out, flate.DefaultCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := compressor.Write(w.Value(1)); err != nil {
			t.Fatal(err)
		}
		if err := compressor.Close(); err != nil {
			t.Fatal(err)
		}
		if share := float64(out.Len()) / float64(size); share < 0.2 || share > 0.5 {
			t.Errorf("a Pod of %d bytes is compressed to %.2f", size, share)
		}
	}
}

func TestNothingIsAllocatedPerPod(t *testing.T) {
	w := valuesOf(podValues(3_200, 9_000))
	var n int64
	buffer := make([]byte, 0, 16_000)
	if allocations := testing.AllocsPerRun(1_000, func() {
		buffer = w.AppendValue(buffer[:0], n)
		n++
	}); allocations != 0 || w.Shared() {
		t.Errorf("%v allocations per value; shared: %v", allocations, w.Shared())
	}
}
