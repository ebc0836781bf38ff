package install

import (
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// otherOwner is a reference to an object that is not a suite of ours.
func otherOwner(apiVersion, kind string, uid types.UID) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: "one", UID: uid}
}

func TestOnlyTheOperatorCreatesChildren(t *testing.T) {
	withPolicies(t)
	namespace := newNamespace(t)
	allow(t, "tenant", namespace, runRights())
	allow(t, "all-verbs", namespace, groupRights())
	allowOperator(t, operatorUser, namespace)
	const refused = "may not set EtcdBenchmarkSuite one as an owner of an EtcdBenchmark"
	const refusedSchedule = "may not set EtcdBenchmarkSchedule one as an owner of an EtcdBenchmark"
	tests := map[string]struct {
		owners []metav1.OwnerReference
		want   string
	}{
		"no owner":               {},
		"a suite as controller":  {[]metav1.OwnerReference{suiteOwner("one", "1")}, refused},
		"a suite as owner":       {[]metav1.OwnerReference{otherOwner("etcdbench.dev/v1alpha1", "EtcdBenchmarkSuite", "1")}, refused},
		"of another version":     {[]metav1.OwnerReference{otherOwner("etcdbench.dev/v2", "EtcdBenchmarkSuite", "1")}, refused},
		"without a version":      {[]metav1.OwnerReference{otherOwner("etcdbench.dev", "EtcdBenchmarkSuite", "1")}, refused},
		"beside another owner":   {[]metav1.OwnerReference{otherOwner("apps/v1", "Deployment", "2"), suiteOwner("one", "1")}, refused},
		"a suite of other group": {[]metav1.OwnerReference{otherOwner("example.org/v1", "EtcdBenchmarkSuite", "1")}, ""},
		"of a group that begins": {[]metav1.OwnerReference{otherOwner("etcdbench.dev.example.org/v1", "EtcdBenchmarkSuite", "1")}, ""},
		"a schedule":             {[]metav1.OwnerReference{controllerOf("EtcdBenchmarkSchedule", "one", "1")}, refusedSchedule},
		"a run":                  {[]metav1.OwnerReference{otherOwner("etcdbench.dev/v1alpha1", "EtcdBenchmark", "1")}, ""},
		"an owner of other kind": {[]metav1.OwnerReference{otherOwner("apps/v1", "Deployment", "1")}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for _, o := range []*object{newRun(t, namespace, "", ""), newSuite(t, namespace, "", "")} {
				run := ownedBy(o, tc.owners...)
				for user, want := range map[string]string{"tenant": tc.want, operatorUser: "", "all-verbs": "", "": ""} {
					checkRefusal(t, clientAs(t, user).Create(t.Context(), run.DeepCopy()), want)
				}
			}
		})
	}
}

func TestOnlyTheOperatorAddsASuiteAsOwner(t *testing.T) {
	withPolicies(t)
	namespace := newNamespace(t)
	allow(t, "tenant", namespace, runRights("get", "patch"))
	allowOperator(t, operatorUser, namespace)
	const refused = "as an owner of an EtcdBenchmark"
	suite := suiteOwner("one", "1")
	released := *suite.DeepCopy()
	released.BlockOwnerDeletion = new(bool)
	type owners []metav1.OwnerReference
	tests := map[string]struct {
		before, after owners
		want          string
	}{
		"keeps it":                      {owners{suite}, owners{suite}, ""},
		"removes it":                    {owners{suite}, owners{}, ""},
		"changes blockOwnerDeletion":    {owners{suite}, owners{released}, ""},
		"adds another owner":            {owners{suite}, owners{suite, otherOwner("apps/v1", "Deployment", "2")}, ""},
		"adds it":                       {nil, owners{suite}, refused},
		"adds it beside another owner":  {owners{otherOwner("apps/v1", "Deployment", "2")}, owners{otherOwner("apps/v1", "Deployment", "2"), suite}, refused},
		"adds a second one":             {owners{suite}, owners{suite, otherOwner("etcdbench.dev/v2", "EtcdBenchmarkSuite", "2")}, refused},
		"replaces it by another":        {owners{suite}, owners{suiteOwner("two", "2")}, refused},
		"changes its uid":               {owners{suite}, owners{suiteOwner("one", "2")}, refused},
		"changes its name":              {owners{suite}, owners{suiteOwner("two", "1")}, refused},
		"changes the kind of an owner":  {owners{otherOwner("etcdbench.dev/v1alpha1", "EtcdBenchmark", "1")}, owners{suite}, refused},
		"changes the group of an owner": {owners{otherOwner("example.org/v1", "EtcdBenchmarkSuite", "1")}, owners{suite}, refused},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			run := ownedBy(newRun(t, namespace, "", ""), tc.before...)
			create(t, clientAs(t, ""), run)
			patch, err := json.Marshal(map[string]any{"spec": map[string]any{"stop": true}, "metadata": map[string]any{"ownerReferences": tc.after}})
			if err != nil {
				t.Fatal(err)
			}
			for user, want := range map[string]string{"tenant": tc.want, operatorUser: ""} {
				err := clientAs(t, user).Patch(t.Context(), run.DeepCopy(), client.RawPatch(types.MergePatchType, patch), client.DryRunAll)
				checkRefusal(t, err, want)
			}
		})
	}
}

// The operator creates the runs of a suite, and the suites of a schedule, with the Secrets and the affinity that the suite's creator was allowed to set.
func TestTheOperatorCreatesRunsWithSecrets(t *testing.T) {
	withPolicies(t)
	namespace := newNamespace(t)
	allowOperator(t, operatorUser, namespace)
	allow(t, "all-verbs", namespace, groupRights())
	const affinity = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, namespaceSelector: {}}]}}"
	run := newRun(t, namespace, "tls: {secretName: client-tls}, auth: {secretName: user}", pullSecrets(8, "")+", "+affinity)
	child := ownedBy(run, suiteOwner("one", "1"))
	checkRefusal(t, clientAs(t, "all-verbs").Create(t.Context(), child.DeepCopy(), client.DryRunAll), "all-verbs may not ")
	checkRefusal(t, clientAs(t, operatorUser).Create(t.Context(), child.DeepCopy(), client.DryRunAll), "")
	checkRefusal(t, clientAs(t, operatorUser).Create(t.Context(), child), "")
	suite := ownedBy(newSuite(t, namespace, pullSecrets(8, "")+", "+affinity, "tls: {secretName: client-tls}, auth: {secretName: user}"), controllerOf("EtcdBenchmarkSchedule", "one", "1"))
	checkRefusal(t, clientAs(t, "all-verbs").Create(t.Context(), suite.DeepCopy(), client.DryRunAll), "all-verbs may not ")
	checkRefusal(t, clientAs(t, operatorUser).Create(t.Context(), suite), "")
}
