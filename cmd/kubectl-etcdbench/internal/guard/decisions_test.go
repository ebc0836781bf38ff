package guard

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/local"
	"github.com/etcdbench/etcd-benchmark-operator/config/samples"
	"github.com/etcdbench/etcd-benchmark-operator/internal/benchmark"
)

// change sets a field, a path in dots, to a value as YAML. An empty value removes the field.
type change struct{ path, value string }

// changes are applied one by one to the manifest of a run.
var changes = []change{
	{"spec.target.datastore", "Etcd"}, {"spec.target.datastore", "Kine"}, {"spec.target.datastore", "ZooKeeper"}, {"spec.target.datastore", "Other"},
	{"spec.load.transport", "Fast"}, {"spec.load.transport", "Client"}, {"spec.load.transport", "Other"},
	{"spec.target.tls", "{secretName: certs}"}, {"spec.target.tls", "{secretName: certs, serverName: etcd}"}, {"spec.target.tls", ""},
	{"spec.target.auth", "{secretName: user}"}, {"spec.target.auth", "{}"},
	{"spec.target.keyPrefix", "bench/mine/"}, {"spec.target.keyPrefix", "/registry/"}, {"spec.target.keyPrefix", "a//b/"}, {"spec.target.keyPrefix", "none"}, {"spec.target.keyPrefix", "a/../b/"},
	{"spec.target.members", "Leader"}, {"spec.target.members", "Followers"}, {"spec.target.unreachableMembers", "Skip"}, {"spec.target.concurrentRuns", "Allow"},
	{"spec.target.endpoints", `["https://10.0.0.1:2379"]`}, {"spec.target.endpoints", `["10.0.0.1"]`}, {"spec.target", "{pods: {selector: {matchLabels: {app: etcd}}}}"},
	{"spec.load.requests", "1000"}, {"spec.load.requests", "0"}, {"spec.load.durationSeconds", "30"}, {"spec.load.durationSeconds", "100000"},
	{"spec.load.rate", "{perSecond: 500}"}, {"spec.load.rate", "{arrival: Poisson, perSecond: 1}"}, {"spec.load.rate", "{stages: [{perSecond: 10, seconds: 5}, {perSecond: 0, seconds: 5}]}"},
	{"spec.load.pods", "7"}, {"spec.load.pods", "1001"}, {"spec.load.connections", "1"}, {"spec.load.clients", "2"}, {"spec.load.warmupSeconds", "700"}, {"spec.load", ""},
	{"spec.workload", "{type: Put, put: {}}"}, {"spec.workload", "{type: Put, put: {values: {sizeBytes: 20000000}}}"}, {"spec.workload", "{type: Put, put: {keys: {count: 100000, sizeBytes: 2}}}"},
	{"spec.workload", "{type: Put, range: {}}"}, {"spec.workload", "{type: Range, range: {consistency: Linearizable}}"}, {"spec.workload", "{type: Range, range: {keysPerRequest: 5}}"},
	{"spec.workload", "{type: Range, range: {consistency: Serializable, delivery: Stream, keysPerRequest: 50, keys: {count: 5000}}}"},
	{"spec.workload", "{type: Mixed, mixed: {readPercent: 50}}"}, {"spec.workload", "{type: Mixed, mixed: {readPercent: 50, inTransaction: true}}"},
	{"spec.workload", "{type: Delete, delete: {keys: {count: 100000}}}"}, {"spec.workload", "{type: Delete, delete: {keys: {count: 100}}}"},
	{"spec.workload", "{type: Txn, txn: {putsPerTransaction: 2}}"}, {"spec.workload", "{type: Txn, txn: {mode: CompareAndSwap}}"},
	{"spec.workload", "{type: STM, stm: {}}"}, {"spec.workload", "{type: STM, stm: {locker: Client}}"}, {"spec.workload", "{type: Lock, lock: {}}"}, {"spec.workload", "{type: Lock, lock: {names: 5, holdMilliseconds: 10}}"},
	{"spec.workload", "{type: Election, election: {}}"}, {"spec.workload", "{type: Lease, lease: {operation: Grant}}"}, {"spec.workload", "{type: Lease, lease: {operation: KeepAlive, keepAlive: {}}}"},
	{"spec.workload", "{type: Lease, lease: {operation: Revoke}}"}, {"spec.workload", "{type: Watch, watch: {}}"}, {"spec.workload", "{type: Watch, watch: {streams: 2, watchersPerStream: 50}}"},
	{"spec.workload", "{type: WatchGet, watchGet: {}}"}, {"spec.workload", "{type: Kubernetes, kubernetes: {profile: Small}}"},
	{"spec.profile", "Small"}, {"spec.kubernetes", "{nodes: 100}"},
	{"spec.objectives", "[{name: o, type: Latency, latency: {operation: Put, statistic: P99, maxMicroseconds: 1}}]"}, {"spec.objectives", "[{name: o, type: Latency, latency: {operation: Range, statistic: Max, maxMicroseconds: 1}}]"},
	{"spec.objectives", "[{name: o, type: Latency, latency: {operation: WatchEvent, statistic: Mean, maxMicroseconds: 1}}]"},
	{"spec.objectives", "[{name: o, type: Throughput, throughput: {minPerSecond: 1}}]"}, {"spec.objectives", "[{name: o, type: ErrorRatio, errorRatio: {maxPerMillion: 0}}]"},
	{"spec.objectives", "[{name: o, type: AchievedRate, achievedRate: {minPercent: 99}}]"}, {"spec.objectives", "[{name: o, type: StartSkew, startSkew: {maxMicroseconds: 1000}}]"},
	{"spec.objectives", "[{name: o, type: WALFsync, walFsync: {statistic: P99, maxMicroseconds: 10000}}]"}, {"spec.objectives", "[{name: o, type: BackendCommit, backendCommit: {statistic: Mean, maxMicroseconds: 10000}}]"},
	{"spec.objectives", "[{name: o, type: PeerRoundTrip, peerRoundTrip: {statistic: P99, maxMicroseconds: 10000}}]"}, {"spec.objectives", "[{name: o, type: LeaderChanges, leaderChanges: {max: 0}}]"},
	{"spec.objectives", "[{name: o, type: SlowApplies, slowApplies: {max: 0}}]"}, {"spec.objectives", "[{name: o, type: FailedProposals, failedProposals: {max: 0}}]"},
	{"spec.objectives", "[{name: o, type: MemberMemory, memberMemory: {maxBytes: 1000000}}]"}, {"spec.objectives", "[{name: o, type: MemberCPU, memberCPU: {maxMillicores: 1000}}]"},
	{"spec.objectives", "[{name: o, type: DatabaseGrowth, databaseGrowth: {maxBytes: 1000}}]"}, {"spec.objectives", "[{name: o, type: Throughput, latency: {operation: Put, statistic: P99, maxMicroseconds: 1}}]"},
	{"spec.onObjectiveMissed", "Stop"}, {"spec.onPodLost", "Continue"}, {"spec.stop", "true"}, {"spec.timeoutSeconds", "5"}, {"spec.schedulingTimeoutSeconds", "0"},
	{"spec.guard", "{maxFreeQuotaPercent: 10}"}, {"spec.guard", "{allowStoreWide: true}"}, {"spec.guard", "{allowControlPlane: true}"},
	{"spec.disturbances", "[{type: Compact, everySeconds: 3, compact: {keepRevisions: 0}}]"}, {"spec.disturbances", "[{type: Defragment, everySeconds: 4}]"},
	{"spec.other", "1"}, {"metadata.name", strings.Repeat("n", 60)},
}

// Admission decides the same, with the same words, about each sample with each change. The golden file has a line for each
// change and decision, with the samples.
func TestDecisionsOnChangedSamples(t *testing.T) {
	t.Parallel()
	all, lines := readSamples(t, "etcdbenchmark_"), make([]string, len(changes))
	var changing sync.WaitGroup
	for i, c := range changes {
		changing.Go(func() { lines[i] = c.decisions(t, all) })
	}
	changing.Wait()
	compare(t, "decisions.txt", strings.Join(lines, ""))
}

// decisions returns a line for each decision, in the order of the samples.
func (c change) decisions(t *testing.T, all []samples.Sample) string {
	var decisions []string
	decided := map[string][]string{}
	for _, s := range all {
		object := map[string]any{}
		if err := yaml.Unmarshal(s.Manifest, &object); err != nil {
			t.Error(err)
		}
		c.apply(t, object)
		decision := decide(t, object)
		if decided[decision] == nil {
			decisions = append(decisions, decision)
		}
		decided[decision] = append(decided[decision], s.Name)
	}
	var out strings.Builder
	for _, decision := range decisions {
		fmt.Fprintf(&out, "%s=%s: %s (%s)\n", c.path, c.value, decision, strings.Join(decided[decision], " "))
	}
	return out.String()
}

func (c change) apply(t *testing.T, object map[string]any) {
	t.Helper()
	path := strings.Split(c.path, ".")
	if c.value == "" {
		unstructured.RemoveNestedField(object, path...)
		return
	}
	parent := object
	for _, field := range path[:len(path)-1] {
		if _, ok := parent[field].(map[string]any); !ok {
			parent[field] = map[string]any{}
		}
		parent = parent[field].(map[string]any)
	}
	var value any
	if err := yaml.Unmarshal([]byte(c.value), &value); err != nil {
		t.Error(err)
	}
	parent[path[len(path)-1]] = value
}

// Admission decides the same, with the same words, about each manifest of the corpus. These are the
// manifests that the tests of the API create, without what they have in common.
func TestDecisionsOnTheCorpus(t *testing.T) {
	t.Parallel()
	file, err := os.Open(filepath.Join("testdata", "corpus.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var out strings.Builder
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for number := 1; lines.Scan(); number++ {
		object := map[string]any{"apiVersion": v1alpha1.GroupVersion.String()}
		if err := yaml.Unmarshal(lines.Bytes(), &object); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%d: %s\n", number, decide(t, object))
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	compare(t, "corpus.txt", out.String())
}

// decide returns what the command says about a manifest, in one line. The first line of a refusal names the object.
func decide(t *testing.T, object map[string]any) string {
	t.Helper()
	data, err := yaml.Marshal(object)
	if err != nil {
		t.Error(err)
	}
	admitted, complaint, ok := call(string(data), "run", "-f", "-", "--dry-run=client")
	if !ok {
		return "refused: " + short(complaint)
	}
	if object["kind"] != "EtcdBenchmark" {
		return "accepted"
	}
	b := &v1alpha1.EtcdBenchmark{}
	if err := yaml.UnmarshalStrict([]byte(admitted), b); err != nil {
		t.Error(err)
	}
	b.UID, b.Spec.Target.Endpoints = uid, endpointsOf(b)
	if _, err := benchmark.Plan(b, b.Spec.Target.Endpoints); err != nil {
		return "accepted, no plan: " + short(err.Error())
	}
	if err := (local.Options{}).Validate(b); err != nil {
		return "accepted, not with --local: " + short(err.Error())
	}
	return "accepted"
}

// mostWords bounds a message. A refusal can repeat the whole value.
const mostWords = 600

// lineNumber differs between samples with the same mistake.
var lineNumber = regexp.MustCompile(`line \d+: `)

func short(message string) string {
	message = lineNumber.ReplaceAllString(strings.Join(strings.Fields(message), " "), "")
	message = strings.TrimPrefix(message, "error: standard input: this manifest cannot be run: ")
	if len(message) > mostWords {
		message = message[:mostWords] + "…"
	}
	return message
}
