package install

import (
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// runLabels are the labels of what the operator creates for a run, as YAML, and runName the name that follows from them.
const (
	runUID    = "01234567-89ab-cdef-0123-456789abcdef"
	runLabels = managedBy + ": " + operatorName + ", " + uidLabel + ": " + runUID
	runName   = "put-01234567"
)

const uidLabel = "etcdbench.dev/run-uid"

// clientImage is the image that the chart sets for client pods.
const clientImage = "etcdbench.dev/etcd-benchmark-operator"

// allowWholeOperator gives the operator's user the rights of the chart in a namespace.
func allowWholeOperator(t *testing.T, namespace string) {
	t.Helper()
	role := &rbacv1.ClusterRole{}
	rules := only(t, renderChart(t), "ClusterRole", "", operatorName)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(rules.Object, role); err != nil {
		t.Fatal(err)
	}
	allow(t, operatorUser, namespace, role.Rules...)
}

// newJob returns a Job as the operator creates it, with additional fields of the pod and of its container, written as YAML.
// They replace fields of the same name.
func newJob(t *testing.T, namespace, pod, container string) *object {
	t.Helper()
	o := parse(t, fmt.Sprintf(`{apiVersion: batch/v1, kind: Job, metadata: {name: %s, namespace: %s, labels: {%[3]s}}, spec: {template: {
		metadata: {labels: {%[3]s}}, spec: {
		restartPolicy: Never, automountServiceAccountToken: false, securityContext: {runAsNonRoot: true}}}}}`, runName, namespace, runLabels))
	spec := o.Object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	main := parse(t, "{name: main, image: '"+clientImage+":any', command: [/loadgen], securityContext: {allowPrivilegeEscalation: false}}").Object
	for field, value := range parse(t, "{"+container+"}").Object {
		main[field] = value
	}
	spec["containers"] = []any{main}
	for field, value := range parse(t, "{"+pod+"}").Object {
		spec[field] = value
	}
	return o
}

// checkCreation requires that the operator may create an object, or is refused with a message that contains want; and that
// an administrator may create it.
func checkCreation(t *testing.T, o *object, want string) {
	t.Helper()
	checkRefusal(t, clientAs(t, operatorUser).Create(t.Context(), o.DeepCopy(), client.DryRunAll), want)
	checkRefusal(t, clientAs(t, "").Create(t.Context(), o.DeepCopy(), client.DryRunAll), "")
}

const noOtherWay = "a Job of the operator may have "

// A stolen token of the operator starts no other pods than the operator does.
func TestTheOperatorCreatesOnlyItsJobs(t *testing.T) {
	withPolicies(t)
	namespace := newNamespace(t)
	allowWholeOperator(t, namespace)
	volume := func(kind string) string { return "volumes: [{name: v, " + kind + "}]" }
	const anyImage, plan, otherMount = "name: first, image: example.org/image", "volumes: [{name: v, configMap: {name: plan}}]", "a Job of the operator may mount volumes only"
	tests := map[string]struct{ pod, container, want string }{
		"none":                     {"", "", ""},
		"a projected Secret":       {volume("projected: {sources: [{secret: {name: private}}]}"), "", noOtherWay + "only volumes"},
		"a projected token":        {volume("projected: {sources: [{serviceAccountToken: {path: token}}]}"), "", noOtherWay + "only volumes"},
		"a volume of another kind": {volume("cephfs: {monitors: [a], secretRef: {name: private}}"), "", noOtherWay + "only volumes"},
		"a driver's volume":        {volume("csi: {driver: d, nodePublishSecretRef: {name: private}}"), "", noOtherWay + "only volumes"},
		"a folder of the node":     {volume("hostPath: {path: /var/lib/kubelet}"), "", noOtherWay + "only volumes"},
		"a volume claim":           {volume("persistentVolumeClaim: {claimName: data}"), "", noOtherWay + "only volumes"},
		"the plan":                 {plan, "volumeMounts: [{name: v, mountPath: /etc/etcdbench/plan}]", ""},
		"over the program":         {plan, "volumeMounts: [{name: v, mountPath: /loadgen, subPath: a}]", otherMount},
		"a path that goes up":      {plan, "volumeMounts: [{name: v, mountPath: /etc/etcdbench/plan/../../..}]", otherMount},
		"a variable":               {"", "env: [{name: A, valueFrom: {secretKeyRef: {name: private, key: a}}}]", noOtherWay + "neither environment"},
		"all variables":            {"", "envFrom: [{secretRef: {name: private}}]", noOtherWay + "neither environment"},
		"an init container":        {"initContainers: [{" + anyImage + "}]", "", noOtherWay + "neither environment"},
		"the token of an account":  {"automountServiceAccountToken: true", "", noOtherWay + "neither a service account"},
		"a service account":        {"serviceAccountName: admin", "", noOtherWay + "neither a service account"},
		"a chosen node":            {"nodeName: node", "", noOtherWay + "no privileges"},
		"a priority":               {"priorityClassName: system-node-critical", "", noOtherWay + "no privileges"},
		"a port of the node":       {"", "ports: [{containerPort: 9090, hostPort: 9090}]", noOtherWay + "no privileges"},
		"another program":          {"", "command: [/manager]", "has the command /loadgen"},
		"the node's network":       {"hostNetwork: true", "", noOtherWay + "no privileges"},
		"the node's processes":     {"hostPID: true", "", noOtherWay + "no privileges"},
		"the node's memory":        {"hostIPC: true", "", noOtherWay + "no privileges"},
		"root":                     {"securityContext: {}", "", noOtherWay + "no privileges"},
		"a container as root":      {"", "securityContext: {allowPrivilegeEscalation: false, runAsNonRoot: false}", noOtherWay + "no privileges"},
		"a privileged container":   {"", "securityContext: {privileged: true}", noOtherWay + "no privileges"},
		"privileges by escalation": {"", "securityContext: {}", noOtherWay + "no privileges"},
		"a capability":             {"", "securityContext: {allowPrivilegeEscalation: false, capabilities: {add: [SYS_PTRACE]}}", noOtherWay + "no privileges"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			checkCreation(t, newJob(t, namespace, tc.pod, tc.container), tc.want)
		})
	}
}

// The Jobs and ConfigMaps have the names and labels of a run, and the Jobs the image of client pods.
func TestTheOperatorCreatesOnlyWhatBelongsToARun(t *testing.T) {
	withPolicies(t)
	namespace := newNamespace(t)
	allowWholeOperator(t, namespace)
	digest := "@sha256:" + strings.Repeat("0", 64)
	labels := map[string]string{managedBy: operatorName, uidLabel: runUID}
	tests := map[string]struct {
		kind, name, image string
		labels            map[string]string
		want              string
	}{
		"a load Job":                      {"Job", runName, clientImage + ":0.1.0", labels, ""},
		"a cleanup Job":                   {"Job", runName + "-cleanup-x4k9z", clientImage + ":0.1.0", labels, ""},
		"a cleanup Job of another run":    {"Job", "put-76543210-cleanup-x4k9z", clientImage, labels, "has the name of its run"},
		"a longer name":                   {"Job", runName + "-backup", clientImage, labels, "has the name of its run"},
		"an image with a digest":          {"Job", runName, clientImage + ":0.1.0" + digest, labels, ""},
		"an image without a tag":          {"Job", runName, clientImage, labels, ""},
		"another image":                   {"Job", runName, "example.org/miner:1", labels, "and the image " + clientImage + ", and this one has /loadgen of example.org/miner:1"},
		"another image of the repository": {"Job", runName, clientImage + "-debug:1", labels, "and the image"},
		"the name of another run":         {"Job", "put-76543210", clientImage, labels, "has the name of its run"},
		"the name of another program":     {"Job", "backup", clientImage, labels, "has the name of its run"},
		"a Job of another program":        {"Job", runName, clientImage, map[string]string{managedBy: "other", uidLabel: runUID}, "have the labels"},
		"a Job of no run":                 {"Job", "put-x", clientImage, map[string]string{managedBy: operatorName}, "have the labels"},
		"a plan":                          {"ConfigMap", runName + "-plan", "", labels, ""},
		"a report":                        {"ConfigMap", runName + "-report", "", labels, ""},
		"another ConfigMap of the run":    {"ConfigMap", runName, "", labels, "only the plans and reports"},
		"another ConfigMap":               {"ConfigMap", "settings", "", labels, "only the plans and reports"},
		"a plan of another program":       {"ConfigMap", runName + "-plan", "", map[string]string{managedBy: "other", uidLabel: runUID}, "has the labels"},
		"a plan of another run":           {"ConfigMap", "put-76543210-plan", "", labels, "only the plans and reports"},
		"a plan of no run":                {"ConfigMap", "put--plan", "", map[string]string{managedBy: operatorName}, "only the plans and reports"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := parse(t, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {namespace: %s}}", namespace))
			if tc.kind == "Job" {
				o = newJob(t, namespace, "", "image: '"+tc.image+"'")
			}
			o.SetName(tc.name)
			o.SetLabels(tc.labels)
			checkCreation(t, o, tc.want)
		})
	}
}

// A stolen token changes no ConfigMap of others, and does not make one the operator's by its labels.
func TestTheOperatorChangesOnlyItsConfigMaps(t *testing.T) {
	withPolicies(t)
	namespace := newNamespace(t)
	allowWholeOperator(t, namespace)
	const takes = `{"metadata":{"labels":{"` + managedBy + `":"` + operatorName + `","` + uidLabel + `":"` + runUID + `"}},"data":{"a":"b"}}`
	for name, tc := range map[string]struct{ name, labels, want string }{
		"its report":                {runName + "-report", runLabels, ""},
		"another name":              {"settings", runLabels, "only the plans and reports"},
		"another program's":         {"other-01234567-plan", "", "has the labels"},
		"that of another run":       {"more-01234567-plan", managedBy + ": " + operatorName + ", " + uidLabel + ": other", "has the labels"},
		"another program's, of run": {"third-01234567-plan", uidLabel + ": " + runUID, "has the labels"},
	} {
		t.Run(name, func(t *testing.T) {
			o := parse(t, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {namespace: %s, name: %s, labels: {%s}}}", namespace, tc.name, tc.labels))
			create(t, clientAs(t, ""), o)
			checkRefusal(t, clientAs(t, operatorUser).Patch(t.Context(), o, client.RawPatch("application/merge-patch+json", []byte(takes))), tc.want)
		})
	}
}

// TestPoliciesHaveTheImages of client pods and of members: the chart writes both into the policy, config/default the first.
func TestPoliciesHaveTheImages(t *testing.T) {
	variable := func(objects []object, name string) string {
		policy := only(t, objects, "ValidatingAdmissionPolicy", "", "etcd-benchmark-operator-jobs")
		for _, v := range policy.Object["spec"].(map[string]any)["variables"].([]any) {
			if v := v.(map[string]any); v["name"] == name {
				return strings.Trim(v["expression"].(string), "'")
			}
		}
		return ""
	}
	digest := "sha256:" + strings.Repeat("0", 64)
	tests := map[string]struct {
		objects []object
		want    string
		members string
	}{
		"the chart":             {renderChart(t, "image.tag=v"), clientImage + ":v", ""},
		"with a digest":         {renderChart(t, "image.repository=r.example:5000/o", "image.digest="+digest), "r.example:5000/o@" + digest, ""},
		"with an image of pods": {renderChart(t, "clientImage=r.example:5000/c:v"), "r.example:5000/c:v", ""},
		"with those of members": {renderChart(t, "limits.memberImages={"+memberImages+"}"), clientImage + ":0.1.0", memberImages},
		"config/default":        {renderKustomize(t), clientImage + ":0.1.0", ""},
	}
	for name, tc := range tests {
		if got := variable(tc.objects, "image"); got != tc.want {
			t.Errorf("%s: wanted %s, found %s", name, tc.want, got)
		}
		if got := variable(tc.objects, "memberImages"); got != tc.members {
			t.Errorf("%s: wanted the members' images %q, found %q", name, tc.members, got)
		}
	}
}
