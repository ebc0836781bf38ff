package v1alpha1_test

import (
	"strings"
	"testing"
)

// withNodes are the edits that replace workload and load by a number of nodes.
func withNodes(nodes string, more ...edit) []edit {
	return append([]edit{{"spec.workload", ""}, {"spec.load", ""}, {"spec.kubernetes", `{nodes: ` + nodes + `}`}}, more...)
}

func TestAdmissionOfNodes(t *testing.T) {
	const alone = "spec.kubernetes: Invalid value: cannot be combined with profile, nor with workload, load or objectives"
	tests := map[string]struct {
		edits []edit
		// want is a part of the rejection; empty if the object is good.
		want string
	}{
		"the fewest":           {withNodes("50"), ""},
		"the most":             {withNodes("5000"), ""},
		"the shortest timeout": {withNodes("500", edit{"spec.timeoutSeconds", "61"}), ""},
		"too few":              {withNodes("49"), "spec.kubernetes.nodes: Invalid value: 49"},
		"too many":             {withNodes("5001"), "spec.kubernetes.nodes: Invalid value: 5001"},
		"no number":            {[]edit{{"spec.workload", ""}, {"spec.load", ""}, {"spec.kubernetes", `{}`}}, "spec.kubernetes.nodes: Required"},
		"with a profile":       {withNodes("500", edit{"spec.profile", "Small"}), alone},
		"with a workload":      {[]edit{{"spec.load", ""}, {"spec.kubernetes", `{nodes: 500}`}}, alone},
		"with a load":          {[]edit{{"spec.workload", ""}, {"spec.kubernetes", `{nodes: 500}`}}, alone},
		"with objectives":      {withNodes("500", edit{"spec.objectives", objectives}), alone},
		"too short a timeout":  {withNodes("500", edit{"spec.timeoutSeconds", "60"}), "spec.timeoutSeconds: Invalid value: must be greater than 60"},
		"of another store":     {withNodes("500", edit{"spec.target.datastore", "ZooKeeper"}), "spec.kubernetes: Invalid value: is a load for etcd"},
		"a late disturbance": {
			withNodes("500", edit{"spec.disturbances", `[{type: LeaseExpiry, everySeconds: 60, leaseExpiry: {}}]`}),
			"spec.disturbances: Invalid value: the measured window is too short",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := create(t, object(t, tc.edits...))
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(refusal(err), tc.want) {
				t.Errorf("wanted a rejection that says %q, found: %v", tc.want, err)
			}
		})
	}
}

func TestNodesAreImmutable(t *testing.T) {
	tests := map[string]struct {
		before, changes []edit
	}{
		"change": {withNodes("500"), []edit{{"spec.kubernetes", `{nodes: 501}`}}},
		"remove": {withNodes("500"), []edit{{"spec.kubernetes", ""}, {"spec.workload", `{type: Put, put: {}}`}, {"spec.load", `{requests: 1}`}}},
		"add":    {nil, withNodes("500")},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := object(t, tc.before...)
			if err := create(t, o); err != nil {
				t.Fatal(err)
			}
			apply(t, o, tc.changes...)
			if err := api.Update(t.Context(), o); err == nil || !strings.Contains(refusal(err), "spec.kubernetes: Invalid value: field is immutable") {
				t.Errorf("wanted a rejection that says that spec.kubernetes is immutable, found: %v", err)
			}
		})
	}
}

// The workload takes a number of nodes, too.
func TestAdmissionOfAWorkloadOfNodes(t *testing.T) {
	nodes := func(settings string) edit {
		return edit{"spec.workload", `{type: Kubernetes, kubernetes: ` + settings + `}`}
	}
	wantTaken(t, nodes(`{nodes: 700}`), edit{"spec.load", `{clients: 700, requests: 10000}`})
	for name, tc := range map[string]struct {
		want  string
		edits []edit
	}{
		"both":             {"spec.workload.kubernetes: Invalid value: set the number of nodes, either by profile or by nodes", []edit{nodes(`{nodes: 700, profile: Small}`)}},
		"none":             {"spec.workload.kubernetes: Invalid value: set the number of nodes, either by profile or by nodes", []edit{nodes(`{}`)}},
		"too few nodes":    {"spec.workload.kubernetes.nodes: Invalid value: 49", []edit{nodes(`{nodes: 49}`)}},
		"too many clients": {"load.clients: Invalid value: must be at most the number of nodes of workload.kubernetes.nodes: four of five", []edit{nodes(`{nodes: 700}`), {"spec.load", `{clients: 701, requests: 10000}`}}},
	} {
		t.Run(name, func(t *testing.T) { wantRefused(t, tc.want, tc.edits...) })
	}
}
