package prometheustest

import (
	"regexp"
	"slices"
)

// Job is a scrape_config.
type Job map[string]any

// Monitor is the part of the chart's PodMonitor that decides what is scraped.
type Monitor struct {
	Metadata struct{ Name, Namespace string } `json:"metadata"`
	Spec     struct {
		Selector struct {
			MatchLabels map[string]string `json:"matchLabels"`
		} `json:"selector"`
		PodTargetLabels     []string                `json:"podTargetLabels"`
		PodMetricsEndpoints []struct{ Port string } `json:"podMetricsEndpoints"`
	} `json:"spec"`
}

// ClientPods returns the job that the Prometheus operator makes of the chart's PodMonitor, on the cluster of a kubeconfig.
// native: Prometheus stores native histograms, too.
func ClientPods(m Monitor, kubeconfig string, native bool) Job {
	name := m.Metadata.Namespace + "/" + m.Metadata.Name
	port := m.Spec.PodMetricsEndpoints[0].Port
	rules := []map[string]any{
		{"action": "drop", "source_labels": []string{"__meta_kubernetes_pod_phase"}, "regex": "(Failed|Succeeded)"},
		{"action": "keep", "source_labels": []string{"__meta_kubernetes_pod_container_port_name"}, "regex": port},
	}
	var labels []string
	for label := range m.Spec.Selector.MatchLabels {
		labels = append(labels, label)
	}
	slices.Sort(labels)
	for _, label := range labels {
		rules = append(rules, map[string]any{
			"action": "keep", "source_labels": []string{"__meta_kubernetes_pod_label_" + sanitized(label)}, "regex": regexp.QuoteMeta(m.Spec.Selector.MatchLabels[label]),
		})
	}
	for target, source := range map[string]string{"namespace": "namespace", "pod": "pod_name", "container": "pod_container_name"} {
		rules = append(rules, map[string]any{"source_labels": []string{"__meta_kubernetes_" + source}, "target_label": target})
	}
	for _, label := range m.Spec.PodTargetLabels {
		rules = append(rules, map[string]any{"source_labels": []string{"__meta_kubernetes_pod_label_" + sanitized(label)}, "regex": "(.+)", "target_label": sanitized(label)})
	}
	rules = append(rules, map[string]any{"target_label": "job", "replacement": name}, map[string]any{"target_label": "endpoint", "replacement": port})
	return Job{
		"job_name": "podMonitor/" + name, "kubernetes_sd_configs": []map[string]any{{"role": "pod", "kubeconfig_file": kubeconfig}},
		"relabel_configs": rules, "scrape_native_histograms": native, "always_scrape_classic_histograms": true,
	}
}

// Operator returns the job that the Prometheus operator makes of the chart's ServiceMonitor, for one address and a bearer
// token in a file.
func Operator(namespace, service, address, token string) Job {
	return Job{
		"job_name": "serviceMonitor/" + namespace + "/" + service, "scheme": "https", "honor_labels": true,
		"tls_config":    map[string]any{"insecure_skip_verify": true},
		"authorization": map[string]any{"credentials_file": token},
		"static_configs": []map[string]any{{
			"targets": []string{address},
			"labels":  map[string]string{"namespace": namespace, "service": service, "job": service, "pod": "manager", "endpoint": "metrics"},
		}},
	}
}

// sanitized is the name of a Kubernetes label as part of the name of a Prometheus label.
func sanitized(label string) string {
	return regexp.MustCompile(`[^a-zA-Z0-9_]`).ReplaceAllString(label, "_")
}
