package v1alpha1_test

import "testing"

func TestAdmissionAcceptsKubernetes(t *testing.T) {
	for _, profile := range []string{"Small", "Medium", "Large"} {
		t.Run(profile, func(t *testing.T) {
			wantTaken(t, edit{"spec.workload", `{type: Kubernetes, kubernetes: {profile: ` + profile + `}}`},
				edit{"spec.load.warmupSeconds", `0`},
				edit{"spec.objectives", `[
					{name: a, type: Latency, latency: {operation: OptimisticPut, statistic: P99, maxMicroseconds: 1}},
					{name: b, type: Latency, latency: {operation: OptimisticDelete, statistic: P99, maxMicroseconds: 1}},
					{name: c, type: Latency, latency: {operation: ListBy500, statistic: P99, maxMicroseconds: 1}},
					{name: d, type: Latency, latency: {operation: ListBy10000, statistic: P99, maxMicroseconds: 1}}]`})
		})
	}
}

func TestAdmissionAcceptsTheMostAPIServers(t *testing.T) {
	wantTaken(t, edit{"spec.workload", `{type: Kubernetes, kubernetes: {profile: Small}}`},
		edit{"spec.load", `{pods: 25, connections: 25, clients: 50, requests: 10000}`})
	for profile, clients := range map[string]string{"Small": "50", "Medium": "250", "Large": "1000"} {
		wantTaken(t, edit{"spec.workload", `{type: Kubernetes, kubernetes: {profile: ` + profile + `}}`},
			edit{"spec.load", `{clients: ` + clients + `, requests: 10000}`})
	}
}

func TestAdmissionRejectsKubernetes(t *testing.T) {
	const small = `{type: Kubernetes, kubernetes: {profile: Small}}`
	for name, tc := range map[string]struct {
		want  string
		edits []edit
	}{
		"no field":           {"needs the field kubernetes and no other", []edit{{"spec.workload", `{type: Kubernetes}`}}},
		"a second field":     {"needs the field put and no other", []edit{{"spec.workload", `{type: Put, put: {}, kubernetes: {profile: Small}}`}}},
		"no profile":         {"profile", []edit{{"spec.workload", `{type: Kubernetes, kubernetes: {}}`}}},
		"an unknown profile": {`supported values: "Small", "Medium", "Large"`, []edit{{"spec.workload", `{type: Kubernetes, kubernetes: {profile: XLarge}}`}}},
		"a warm-up":          {"load.warmupSeconds: Invalid value: must be 0 for workload.type Kubernetes", []edit{{"spec.workload", small}, {"spec.load.warmupSeconds", `1`}}},
		"too many pods":      {"load.pods: Invalid value: must be at most 25", []edit{{"spec.workload", small}, {"spec.load", `{pods: 26, connections: 26, clients: 26, requests: 100}`}}},
		"too many clients":   {"load.clients: Invalid value: must be at most the number of nodes of workload.kubernetes.profile Small (50)", []edit{{"spec.workload", small}, {"spec.load", `{clients: 51, requests: 10000}`}}},
		"too many of Large":  {"load.clients: Invalid value: must be at most the number of nodes of workload.kubernetes.profile Large (1000)", []edit{{"spec.workload", `{type: Kubernetes, kubernetes: {profile: Large}}`}, {"spec.load", `{clients: 1001, requests: 10000}`}}},
		"over Fast":          {"spec.load.transport: Invalid value: must be Client", []edit{{"spec.workload", small}, {"spec.load.warmupSeconds", `0`}, {"spec.load.transport", `Fast`}}},
	} {
		t.Run(name, func(t *testing.T) { wantRefused(t, tc.want, tc.edits...) })
	}
}
