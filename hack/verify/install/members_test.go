package install

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// memberImages are those that the installed policies allow for members of runs.
	memberImages = "registry.example.org/etcd:*,example.org/plain:1"
	memberImage  = "registry.example.org/etcd:v3.6.7"
	membersName  = runName + "-members"
)

func createRights(resources ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: resources, Verbs: []string{"create"}}
}

// The operator creates pods, a Service and volume claims for members: only users who may create these may start members.
func TestOnlyCreatorsOfPodsServicesAndClaimsMayStartMembers(t *testing.T) {
	withPolicies(t)
	namespace, elsewhere := newNamespace(t), newNamespace(t)
	allow(t, "runner", namespace, runRights())
	allow(t, "all-verbs", namespace, groupRights())
	allow(t, "podmaker", namespace, runRights(), createRights("pods"))
	allow(t, "servicemaker", namespace, runRights(), createRights("services", "persistentvolumeclaims"))
	allow(t, "starter", namespace, runRights(), createRights("pods", "services"))
	allow(t, "owner", namespace, runRights(), createRights("pods", "services", "persistentvolumeclaims"))
	allow(t, "owner-elsewhere", namespace, runRights())
	allow(t, "owner-elsewhere", elsewhere, createRights("pods", "services", "persistentvolumeclaims"))
	allowOperator(t, operatorUser, namespace)
	const claim, folder = ", storage: {volumeClaim: {size: 1Gi}}", ", storage: {emptyDir: {}}"
	refused := func(what string) string { return " may not create " + what + " in namespace " + namespace + ", which " }
	for name, tc := range map[string]struct {
		user, storage, want string
	}{
		"neither":              {"runner", "", refused("pods")},
		"all verbs on runs":    {"all-verbs", "", refused("pods")},
		"only pods":            {"podmaker", "", refused("Services")},
		"only the others":      {"servicemaker", claim, refused("pods")},
		"pods and Services":    {"starter", "", ""},
		"with a folder":        {"starter", folder, ""},
		"with a claim":         {"starter", claim, refused("PersistentVolumeClaims")},
		"all three":            {"owner", claim, ""},
		"in another namespace": {"owner-elsewhere", "", refused("pods")},
		"the operator":         {operatorUser, claim, ""},
		"an administrator":     {"", claim, ""},
	} {
		target := "ephemeral: {image: example.org/etcd:1" + tc.storage + "}"
		largest, _ := suiteLists(t)
		last := append(make([]string, largest-1), target)
		for _, o := range []*object{newRun(t, namespace, target, ""), newSuite(t, namespace, "", last...), newSchedule(t, namespace, "", last...)} {
			t.Run(name+": "+o.GetKind(), func(t *testing.T) {
				checkRefusal(t, clientAs(t, tc.user).Create(t.Context(), o, client.DryRunAll), tc.want)
			})
		}
	}
}

// newMembersJob returns the Job of a run's members as the operator creates it, with additional fields as newJob.
func newMembersJob(t *testing.T, namespace, pod, container string) *object {
	t.Helper()
	o := newJob(t, namespace, pod, "command: [etcd], image: '"+memberImage+"'")
	main := o.Object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
	for field, value := range parse(t, "{"+container+"}").Object {
		main[field] = value
	}
	o.SetName(membersName)
	return o
}

// A stolen token of the operator starts etcd from the allowed images, and no other program.
func TestTheOperatorCreatesOnlyJobsOfMembers(t *testing.T) {
	withPolicies(t)
	namespace := newNamespace(t)
	allowWholeOperator(t, namespace)
	const otherImage, otherVolume, otherCommand = "and one of the images " + memberImages + ", and this Job has ", "members of a run may have only volumes", "commands besides its own"
	claim := func(annotations, spec string) string {
		return "volumes: [{name: data, ephemeral: {volumeClaimTemplate: {metadata: {annotations: {" + annotations + "}}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}" + spec + "}}}}]"
	}
	volume := func(kind string) string { return "volumes: [{name: data, " + kind + "}]" }
	consul := func(arg string) string {
		return fmt.Sprintf("command: [consul], args: [agent, -server, -bootstrap-expect=3, '-advertise={{ GetPrivateIP }}', '-retry-join=a.b:8301', '%s']", arg)
	}
	tests := map[string]struct{ pod, container, want string }{
		"none":                     {"", "", ""},
		"with flags":               {"", "args: [--name=a, --data-dir=/data/etcd]", ""},
		"a digest":                 {"", "image: 'registry.example.org/etcd:v1@sha256:" + strings.Repeat("0", 64) + "'", ""},
		"the other image":          {"", "image: 'example.org/plain:1'", ""},
		"another tag of it":        {"", "image: 'example.org/plain:12'", otherImage + "etcd of example.org/plain:12"},
		"another image":            {"", "image: 'example.org/miner:1'", otherImage},
		"more in front":            {"", "image: 'evil.example.org/registry.example.org/etcd:1'", otherImage},
		"a longer repository":      {"", "image: 'registry.example.org/etcd:1/miner'", otherImage},
		"no dot":                   {"", "image: 'registry-example.org/etcd:1'", otherImage},
		"the image of client pods": {"", "image: '" + clientImage + ":1', command: [/loadgen]", otherImage},
		"another program":          {"", "command: [sh]", otherImage},
		"the image's own program":  {"", "command: []", otherImage},
		"another cluster":          {"", "args: ['--discovery=https://example.org']", "have the command etcd with flags"},
		"a file of settings":       {"", "args: [--config-file=/a]", "have the command etcd with flags"},
		"a proxy":                  {"", "args: [gateway, start]", "have the command etcd with flags"},
		"ZooKeeper":                {"", "command: [zkServer.sh], args: [start-foreground, /config/zoo.cfg], env: [{name: SERVER_JVMFLAGS, value: '-Xms1g -Xmx1g -XX:+UseG1GC'}]", ""},
		"another file of it":       {"", "command: [zkServer.sh], args: [start-foreground, /tmp/zoo.cfg]", "have the command etcd with flags"},
		"another command of it":    {"", "command: [zkServer.sh], args: [print-cmd, /config/zoo.cfg]", "have the command etcd with flags"},
		"an agent in Java":         {"", "command: [zkServer.sh], args: [start-foreground, /config/zoo.cfg], env: [{name: SERVER_JVMFLAGS, value: '-javaagent:/a.jar'}]", noOtherWay + "neither environment"},
		"a property of Java":       {"", "command: [zkServer.sh], args: [start-foreground, /config/zoo.cfg], env: [{name: SERVER_JVMFLAGS, value: '-Dzookeeper.forceSync=no'}]", noOtherWay + "neither environment"},
		"another variable of it":   {"", "command: [zkServer.sh], args: [start-foreground, /config/zoo.cfg], env: [{name: CLASSPATH, value: '-Xmx1g'}]", noOtherWay + "neither environment"},
		"Java's flags for etcd":    {"", "env: [{name: SERVER_JVMFLAGS, value: '-Xmx1g'}]", noOtherWay + "neither environment"},
		"Consul":                   {"", consul("-hcl=performance { raft_multiplier = 1 }"), ""},
		"a number of Consul":       {"", consul("-hcl=raft_snapshot_threshold = 16384"), ""},
		"a time of Consul":         {"", consul(`-hcl=telemetry { prometheus_retention_time = "1h" }`), ""},
		"a handler of Consul":      {"", consul(`-hcl=watches { handler = "sh" }`), "have the command etcd with flags"},
		"a second key of Consul":   {"", consul("-hcl=performance { raft_multiplier = 1 } enable_script_checks = true"), "have the command etcd with flags"},
		"scripts of Consul":        {"", consul("-enable-script-checks"), "have the command etcd with flags"},
		"a folder of Consul":       {"", consul("-config-dir=/a"), "have the command etcd with flags"},
		"a cloud":                  {"", consul("-retry-join=provider=aws tag_key=a"), "have the command etcd with flags"},
		"another part of Consul":   {"", "command: [consul], args: [exec, sh]", "have the command etcd with flags"},
		"a folder":                 {volume("emptyDir: {medium: Memory}"), "", ""},
		"a claim":                  {claim("", ""), "", ""},
		"a copy of a claim":        {claim("", ", dataSource: {kind: PersistentVolumeClaim, name: other}"), "", otherVolume},
		"a snapshot":               {claim("", ", dataSourceRef: {apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: other}"), "", otherVolume},
		"a certain volume":         {claim("", ", volumeName: other"), "", otherVolume},
		"a selected volume":        {claim("", ", selector: {matchLabels: {a: b}}"), "", otherVolume},
		"a driver's annotation":    {claim("trident.netapp.io/cloneFromPVC: other", ""), "", otherVolume},
		"another's claim":          {volume("persistentVolumeClaim: {claimName: other}"), "", otherVolume},
		"a Secret":                 {volume("secret: {secretName: private}"), "", otherVolume},
		"a ConfigMap":              {volume("configMap: {name: other}"), "", otherVolume},
		"a projected token":        {volume("projected: {sources: [{serviceAccountToken: {path: token}}]}"), "", otherVolume},
		"a folder of the node":     {volume("hostPath: {path: /}"), "", otherVolume},
		"a variable":               {"", "env: [{name: A, valueFrom: {secretKeyRef: {name: private, key: a}}}]", noOtherWay + "neither environment"},
		"a hook":                   {"", "lifecycle: {postStart: {exec: {command: [sh]}}}", otherCommand},
		"a probe":                  {"", "readinessProbe: {exec: {command: [sh]}}", otherCommand},
		"a probe over HTTP":        {"", "readinessProbe: {httpGet: {path: /health, port: 2379}}", ""},
		"the token of an account":  {"automountServiceAccountToken: true", "", noOtherWay + "neither a service account"},
		"the node's network":       {"hostNetwork: true", "", noOtherWay + "no privileges"},
		"a privileged container":   {"", "securityContext: {privileged: true}", noOtherWay + "no privileges"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			checkCreation(t, newMembersJob(t, namespace, tc.pod, tc.container), tc.want)
		})
	}
	t.Run("a label of others", func(t *testing.T) {
		o := newMembersJob(t, namespace, "", "")
		if err := unstructured.SetNestedField(o.Object, "etcd", "spec", "template", "metadata", "labels", "app"); err != nil {
			t.Fatal(err)
		}
		checkCreation(t, o, "only the labels of the operator")
	})
	for name, want := range map[string]string{runName: "has the command /loadgen", "put-76543210-members": "has the name of its run"} {
		t.Run("as "+name, func(t *testing.T) {
			o := newMembersJob(t, namespace, "", "")
			o.SetName(name)
			checkCreation(t, o, want)
		})
	}
}

// A stolen token of the operator mounts nothing over a program of members.
func TestTheOperatorMountsOnlyTheFilesOfMembers(t *testing.T) {
	withPolicies(t)
	namespace := newNamespace(t)
	allowWholeOperator(t, namespace)
	const (
		otherVolume, otherMount = "members of a run may have only volumes", "a Job of the operator may mount volumes only"
		zooKeeper               = "command: [zkServer.sh], args: [start-foreground, /config/zoo.cfg]"
		config                  = "fieldRef: {fieldPath: \"metadata.annotations['etcdbench.dev/zoo.cfg']\"}"
		number                  = "{path: myid, fieldRef: {fieldPath: \"metadata.annotations['batch.kubernetes.io/job-completion-index']\"}}"
		block                   = "volumes: [{name: data, ephemeral: {volumeClaimTemplate: {spec: {volumeMode: Block, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]"
	)
	files := func(more, item string) string {
		return "volumes: [{name: data, emptyDir: {}}, {name: files, downwardAPI: {items: [" + item + ", " + number + "]" + more + "}}]"
	}
	asMade := files("", "{path: zoo.cfg, "+config+"}")
	mounts := func(mounts string) string { return "volumeMounts: [" + mounts + "]" }
	const mounted = "{name: data, mountPath: /data}, {name: files, mountPath: /config/zoo.cfg, subPath: zoo.cfg}, {name: files, mountPath: /data/myid, subPath: myid}"
	tests := map[string]struct{ pod, container, want string }{
		"as they are":          {asMade, zooKeeper + ", " + mounts(mounted), ""},
		"files of etcd":        {asMade, "", otherVolume},
		"files of Consul":      {asMade, "command: [consul], args: [agent]", otherVolume},
		"another annotation":   {files("", "{path: zoo.cfg, fieldRef: {fieldPath: \"metadata.annotations['a']\"}}"), zooKeeper, otherVolume},
		"all annotations":      {files("", "{path: zoo.cfg, fieldRef: {fieldPath: metadata.annotations}}"), zooKeeper, otherVolume},
		"another file":         {files("", "{path: java.env, "+config+"}"), zooKeeper, otherVolume},
		"a size":               {files("", "{path: zoo.cfg, resourceFieldRef: {containerName: main, resource: limits.cpu}}"), zooKeeper, otherVolume},
		"a file that runs":     {files("", "{path: zoo.cfg, mode: 493, "+config+"}"), zooKeeper, otherVolume},
		"files that run":       {files(", defaultMode: 493", "{path: zoo.cfg, "+config+"}"), zooKeeper, otherVolume},
		"another volume":       {strings.ReplaceAll(asMade, "name: files", "name: more"), zooKeeper, otherVolume},
		"over the program":     {asMade, zooKeeper + ", " + mounts("{name: files, mountPath: /bin/zkServer.sh, subPath: zoo.cfg}"), otherMount},
		"over Java's settings": {asMade, zooKeeper + ", " + mounts("{name: files, mountPath: /conf/java.env, subPath: zoo.cfg}"), otherMount},
		"files as the data":    {asMade, zooKeeper + ", " + mounts("{name: files, mountPath: /data}"), otherMount},
		"data over programs":   {asMade, zooKeeper + ", " + mounts("{name: data, mountPath: /bin}"), otherMount},
		"a path that goes up":  {asMade, zooKeeper + ", " + mounts("{name: data, mountPath: /data/../bin}"), otherMount},
		"data of etcd":         {"volumes: [{name: data, emptyDir: {}}]", mounts("{name: data, mountPath: /data}"), ""},
		"over etcd":            {"volumes: [{name: data, emptyDir: {}}]", mounts("{name: data, mountPath: /usr/local/bin}"), otherMount},
		"a disk":               {block, "volumeDevices: [{name: data, devicePath: /dev/data}]", otherMount},
		"the sampler's": {asMade + ", containers: [{name: main, image: '" + memberImage + "', " + zooKeeper + ", securityContext: {allowPrivilegeEscalation: false}}, " +
			"{name: sampler, image: '" + clientImage + ":any', command: [/loadgen], args: [sample, --datastore=ZooKeeper], securityContext: {allowPrivilegeEscalation: false}, volumeMounts: [{name: data, mountPath: /data}]}]", "", otherMount},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			job := newMembersJob(t, namespace, tc.pod, tc.container)
			checkCreation(t, job, tc.want)
		})
	}
}

// Beside etcd, a pod of members may have one other container: their sampler.
func TestTheOperatorCreatesOnlyItsSamplerBesideMembers(t *testing.T) {
	withPolicies(t)
	namespace := newNamespace(t)
	allowWholeOperator(t, namespace)
	const sampler = "name: sampler, image: '" + clientImage + ":any', command: [/loadgen], args: [sample, --datastore=Etcd], securityContext: {allowPrivilegeEscalation: false}"
	for name, tc := range map[string]struct{ change, want string }{
		"as it is":             {"", ""},
		"another name":         {"name: other", "and one of the images " + memberImages},
		"another image":        {"image: 'example.org/miner:1'", "has the command /loadgen and the image " + clientImage},
		"an image of members":  {"image: '" + memberImage + "'", "has the command /loadgen and the image"},
		"another program":      {"command: [sh]", "has the command /loadgen and the image"},
		"another work":         {"args: [clean]", "their sampler: the argument sample"},
		"more work":            {"args: [sample, --datastore=Etcd, x]", "their sampler: the argument sample"},
		"a variable":           {"env: [{name: A, value: a}]", noOtherWay + "neither environment"},
		"a privileged sampler": {"securityContext: {privileged: true}", noOtherWay + "no privileges"},
	} {
		t.Run(name, func(t *testing.T) {
			job := newMembersJob(t, namespace, "shareProcessNamespace: true", "")
			pod := job.Object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
			container := parse(t, "{"+sampler+"}").Object
			maps.Copy(container, parse(t, "{"+tc.change+"}").Object)
			pod["containers"] = append(pod["containers"].([]any), container)
			checkCreation(t, job, tc.want)
		})
	}
}

// Without allowed images, which is the default, the operator cannot start members.
func TestWithoutImagesTheOperatorCreatesNoMembers(t *testing.T) {
	withPolicies(t)
	namespace := newNamespace(t)
	allowWholeOperator(t, namespace)
	job := newMembersJob(t, namespace, "", "")
	checkCreation(t, job, "")
	objects := renderChart(t)
	policy := only(t, objects, "ValidatingAdmissionPolicy", "", operatorName+"-jobs")
	binding := only(t, objects, "ValidatingAdmissionPolicyBinding", "", operatorName+"-jobs")
	for path, value := range map[string]string{"policyName": "no-members", "matchResources.namespaceSelector.matchLabels": ""} {
		fields, of := append([]string{"spec"}, strings.Split(path, ".")...), any(value)
		if value == "" {
			of = map[string]any{corev1.LabelMetadataName: namespace}
		}
		if err := unstructured.SetNestedField(binding.Object, of, fields...); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range []object{policy, binding} {
		o.SetName("no-members")
		create(t, clientAs(t, ""), &o)
	}
	waitUntilRefused(t, func(ctx context.Context) error {
		return clientAs(t, operatorUser).Create(ctx, job.DeepCopy(), client.DryRunAll)
	})
	checkCreation(t, job, "and one of the images (none)")
	checkCreation(t, newJob(t, namespace, "", ""), "")
}

// A stolen token of the operator creates no Service that receives the requests of others, or that is reached from outside.
func TestTheOperatorCreatesOnlyServicesOfMembers(t *testing.T) {
	withPolicies(t)
	namespace := newNamespace(t)
	allowWholeOperator(t, namespace)
	const incomplete, selects, reached = "lacks the labels, the name or the owner", "selects other pods", "has an address or annotations"
	owned := func(kind, name string) string {
		return "ownerReferences: [{" + kind + ", name: " + name + ", uid: '1'}]"
	}
	ofJob := owned("apiVersion: batch/v1, kind: Job", membersName)
	selector := func(component string) string {
		return "selector: {" + uidLabel + ": " + runUID + ", etcdbench.dev/component: " + component + "}"
	}
	const headless = "clusterIP: None"
	labels := "labels: {" + runLabels + "}"
	tests := map[string]struct{ name, metadata, spec, want string }{
		"of members":            {membersName, labels + ", " + ofJob, headless + ", publishNotReadyAddresses: true, " + selector("member"), ""},
		"another name":          {runName, labels + ", " + ofJob, headless + ", " + selector("member"), incomplete},
		"another run":           {"put-76543210-members", labels + ", " + owned("apiVersion: batch/v1, kind: Job", "put-76543210-members"), headless + ", " + selector("member"), incomplete},
		"another program":       {membersName, ofJob + ", labels: {" + managedBy + ": other, " + uidLabel + ": " + runUID + "}", headless + ", " + selector("member"), incomplete},
		"of no run":             {membersName, ofJob + ", labels: {" + managedBy + ": " + operatorName + "}", headless + ", " + selector("member"), incomplete},
		"without an owner":      {membersName, labels, headless + ", " + selector("member"), incomplete},
		"an owner's other kind": {membersName, labels + ", " + owned("apiVersion: v1, kind: Pod", membersName), headless + ", " + selector("member"), incomplete},
		"an owner's other name": {membersName, labels + ", " + owned("apiVersion: batch/v1, kind: Job", runName), headless + ", " + selector("member"), incomplete},
		"all pods of the run":   {membersName, labels + ", " + ofJob, headless + ", selector: {" + uidLabel + ": " + runUID + "}", selects},
		"its client pods":       {membersName, labels + ", " + ofJob, headless + ", " + selector("load"), selects},
		"other pods":            {membersName, labels + ", " + ofJob, headless + ", selector: {app: etcd}", selects},
		"no pods":               {membersName, labels + ", " + ofJob, headless, selects},
		"an address":            {membersName, labels + ", " + ofJob, selector("member"), reached},
		"a port of the node":    {membersName, labels + ", " + ofJob, "type: NodePort, " + selector("member"), reached},
		"a load balancer":       {membersName, labels + ", " + ofJob, "type: LoadBalancer, " + selector("member"), reached},
		"another's name":        {membersName, labels + ", " + ofJob, "type: ExternalName, externalName: example.org, " + selector("member"), reached},
		"an address of others":  {membersName, labels + ", " + ofJob, headless + ", externalIPs: [192.0.2.1], " + selector("member"), reached},
		"a name outside":        {membersName, labels + ", " + ofJob + ", annotations: {external-dns.alpha.kubernetes.io/hostname: etcd.example.org}", headless + ", " + selector("member"), reached},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			checkCreation(t, parse(t, fmt.Sprintf("{apiVersion: v1, kind: Service, metadata: {name: %s, namespace: %s, %s}, spec: {ports: [{port: 2379}], %s}}", tc.name, namespace, tc.metadata, tc.spec)), tc.want)
		})
	}
}

// The chart's values become the operator's flags.
func TestValuesOfMembersAreFlags(t *testing.T) {
	flags := func(values ...string) (flags []string) {
		deployment := only(t, renderChart(t, values...), "Deployment", systemName, operatorName)
		containers, _, _ := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
		args, _, _ := unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
		return slices.DeleteFunc(args, func(a string) bool { return !strings.Contains(a, "-member") })
	}
	if got := flags(); len(got) != 0 {
		t.Errorf("wanted no flag by default, found %v", got)
	}
	want := []string{"--member-images=" + memberImages, "--max-members-per-run=3", "--max-member-storage=20Gi", "--member-user=0"}
	if got := flags("limits.memberImages={"+memberImages+"}", "limits.membersPerRun=3", "limits.memberStorage=20Gi", "memberUser=0"); !slices.Equal(got, want) {
		t.Errorf("wanted %v, found %v", want, got)
	}
}
