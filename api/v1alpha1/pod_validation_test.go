package v1alpha1_test

import (
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
)

func TestAdmissionOfLabelsAndAnnotationsOfPods(t *testing.T) {
	for _, field := range []string{"labels", "annotations"} {
		t.Run(field, func(t *testing.T) {
			path := "spec.pod." + field
			for _, good := range []string{
				`{team: billing, example.org/cost-center: "4711", app.kubernetes.io/part-of: etcd, empty: ""}`,
				`{kuma.io/sidecar-injection: disabled, istio.io/dataplane-mode: none}`,
				// These end as names of Kubernetes do, and are not in its domains.
				`{kueue.x-k8s.io/queue-name: q, mykubernetes.io/a: b, k8s.io.example.org/a: b, kubernetes.io: b}`,
				"{" + strings.Repeat("a", 63) + ": " + strings.Repeat("v", 63) + "}",
				marks(32, "v"),
			} {
				wantTaken(t, edit{path, good})
			}
			for refusal, keys := range map[string][]string{
				"keys in etcdbench.dev/": {"etcdbench.dev/run-uid", "etcdbench.dev/start-at"},
				"keys in kubernetes.io or k8s.io": {
					"cluster-autoscaler.kubernetes.io/safe-to-evict", "container.apparmor.security.beta.kubernetes.io/loadgen", "kubernetes.io/egress-bandwidth",
					batchv1.JobNameLabel, batchv1.ControllerUidLabel, batchv1.JobCompletionIndexAnnotation, batchv1.JobIndexFailureCountAnnotation,
					"k8s.io/a", "scheduling.k8s.io/group",
				},
				"app.kubernetes.io/name, ":  {"app.kubernetes.io/managed-by", "app.kubernetes.io/name", "app.kubernetes.io/component", "job-name", "controller-uid"},
				"sidecar.istio.io/inject, ": {"sidecar.istio.io/inject", "linkerd.io/inject", "karpenter.sh/do-not-disrupt"},
			} {
				for _, key := range keys {
					wantRefused(t, path+": Invalid value: must not have "+refusal, edit{path, "{team: a, " + key + ": b}"})
				}
			}
			for _, key := range []string{`"a b"`, `"-a"`, `"a-"`, `""`, `"Example.org/a"`, `"a/b/c"`, `"/a"`, strings.Repeat("a", 318)} {
				wantRefused(t, path+": Invalid value: must have keys", edit{path, "{" + key + ": b}"})
			}
			wantRefused(t, path+": Too many", edit{path, marks(33, "v")})
		})
	}
	wantTaken(t, edit{"spec.pod.annotations", `{a: "any text: {}", b: ` + strings.Repeat("v", 2048) + `}`})
	wantTaken(t, edit{"spec.pod", "{labels: " + marks(32, strings.Repeat("v", 63)) + ", annotations: " + marks(32, strings.Repeat("v", 2048)) + "}"})
	wantRefused(t, "spec.pod.annotations.a: Too long", edit{"spec.pod.annotations", "{a: " + strings.Repeat("v", 2049) + "}"})
	wantRefused(t, "spec.pod.labels: Invalid value: must have values", edit{"spec.pod.labels", "{a: " + strings.Repeat("v", 64) + "}"})
	wantRefused(t, "spec.pod.labels: Invalid value: must have values", edit{"spec.pod.labels", `{a: "b c"}`})
}

// marks are so many labels or annotations with long keys.
func marks(n int, value string) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("%s%02d.example.org/%s: %s", strings.Repeat("d", 50), i, strings.Repeat("k", 60), value))
	}
	return "{" + strings.Join(all, ", ") + "}"
}

// Suites and schedules have the same settings in their templates.
func TestAdmissionOfLabelsOfPodsInTemplates(t *testing.T) {
	const label = "template: {pod: {labels: {%s: a}}}\n"
	for text, path := range map[string]string{
		suiteText + "  " + label:        "spec.template.pod.labels",
		scheduleText + "      " + label: "spec.suiteTemplate.spec.template.pod.labels",
	} {
		if err := createSuite(t, suiteObject(t, fmt.Sprintf(text, "team"))); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		err := createSuite(t, suiteObject(t, fmt.Sprintf(text, "job-name")))
		if err == nil || !strings.Contains(refusal(err), path+": Invalid value: must not have app.kubernetes.io/name, ") {
			t.Errorf("%s: wanted a refusal, found %v", path, err)
		}
	}
}
