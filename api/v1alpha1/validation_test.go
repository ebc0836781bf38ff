package v1alpha1_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const good = `
apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmark
metadata: {namespace: default, generateName: t-}
spec:
  target: {endpoints: ["127.0.0.1:2379"]}
  workload: {type: Put, put: {}}
  load: {requests: 100}
`

// edit is a path into an object, in dots, and its new value as YAML. Empty YAML removes the value.
type edit struct{ path, yaml string }

func object(t *testing.T, edits ...edit) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(good), &o.Object); err != nil {
		t.Fatal(err)
	}
	apply(t, o, edits...)
	return o
}

func apply(t *testing.T, o *unstructured.Unstructured, edits ...edit) {
	t.Helper()
	for _, e := range edits {
		path := strings.Split(e.path, ".")
		if e.yaml == "" {
			unstructured.RemoveNestedField(o.Object, path...)
			continue
		}
		var value any
		if err := yaml.Unmarshal([]byte(e.yaml), &value); err != nil {
			t.Fatal(err)
		}
		if err := unstructured.SetNestedField(o.Object, integers(value), path...); err != nil {
			t.Fatal(err)
		}
	}
}

// integers converts YAML's numbers to int64, as unstructured objects need.
func integers(v any) any {
	switch v := v.(type) {
	case float64:
		return int64(v)
	case map[string]any:
		for k := range v {
			v[k] = integers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = integers(v[i])
		}
	}
	return v
}

// create wants unknown fields to be refused, as kubectl does.
func create(t *testing.T, o client.Object) error {
	t.Helper()
	err := api.Create(t.Context(), o, client.FieldValidation("Strict"))
	if err == nil {
		// The test's own context is cancelled by then.
		t.Cleanup(func() { _ = api.Delete(context.Background(), o) })
	}
	return err
}

const (
	mixed      = `{type: Mixed, mixed: {readPercent: 80}}`
	pods       = `{pods: {selector: {matchLabels: {app: etcd}}}}`
	objectives = `[{name: p99, type: Latency, latency: {operation: Put, statistic: P99, maxMicroseconds: 25000}}]`
	affinity   = `{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: Exists}]}]}}}}`
)

// A number that the schema refuses must cause one message, without further ones from rules that use it.
func TestAdmissionSaysOneThingOnce(t *testing.T) {
	tests := map[string]struct {
		edits []edit
		want  string
	}{
		"a rate of 0":          {[]edit{{"spec.load.rate", `{perSecond: 0}`}}, "perSecond"},
		"negative clients":     {[]edit{{"spec.load.clients", `-4`}, {"spec.load.connections", `6`}}, "clients"},
		"negative connections": {[]edit{{"spec.load.connections", `-4`}}, "connections"},
		"negative requests":    {[]edit{{"spec.load.requests", `-4`}}, "requests"},
		"a word for a host":    {[]edit{{"spec.target.endpoints", `["foo"]`}}, "endpoints[0]"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := create(t, object(t, tc.edits...))
			var status apierrors.APIStatus
			if !errors.As(err, &status) {
				t.Fatalf("wanted a refusal, got %v", err)
			}
			causes := status.Status().Details.Causes
			if len(causes) != 1 || !strings.HasSuffix(causes[0].Field, tc.want) {
				t.Errorf("wanted one cause at %s, got %v", tc.want, err)
			}
		})
	}
}

func TestAdmissionAccepts(t *testing.T) {
	tests := map[string][]edit{
		"the least":                  {},
		"a range":                    {{"spec.workload", `{type: Range, range: {consistency: Serializable}}`}},
		"a mix":                      {{"spec.workload", mixed}},
		"a service by port name":     {{"spec.target", `{service: {name: etcd}}`}},
		"a service by port number":   {{"spec.target", `{service: {name: etcd, port: 2379}}`}},
		"pods":                       {{"spec.target", pods}},
		"pods by expression":         {{"spec.target", `{pods: {selector: {matchExpressions: [{key: app, operator: In, values: [etcd]}, {key: x, operator: Exists}]}}}`}},
		"a slash at the end":         {{"spec.target.endpoints", `["http://etcd:2379/"]`}},
		"https with tls":             {{"spec.target", `{endpoints: ["https://etcd-0.etcd:2379"], tls: {secretName: certs}}`}},
		"an IPv6 address":            {{"spec.target", `{endpoints: ["[::1]:2379"]}`}},
		"the highest port":           {{"spec.target", `{endpoints: ["a:65535"]}`}},
		"a duration":                 {{"spec.load", `{durationSeconds: 10}`}},
		"an open loop":               {{"spec.load", `{durationSeconds: 10, rate: {perSecond: 100}}`}},
		"equal numbers":              {{"spec.load", `{requests: 3, pods: 3, connections: 3, clients: 3}`}},
		"the greatest value":         {{"spec.workload.put", `{values: {sizeBytes: 10480000}}`}},
		"no value":                   {{"spec.workload.put", `{values: {sizeBytes: 0}}`}},
		"keys that just fit":         {{"spec.workload.put", `{keys: {count: 1000, sizeBytes: 3}}`}},
		"objectives of each type":    {{"spec.objectives", `[{name: a, type: Latency, latency: {operation: Put, statistic: P99, maxMicroseconds: 1}}, {name: b, type: Throughput, throughput: {minPerSecond: 1}}, {name: c, type: ErrorRatio, errorRatio: {maxPerMillion: 0}}]`}},
		"pod settings":               {{"spec.pod", affinity}},
		"the longest name":           {{"metadata.generateName", ""}, {"metadata.name", strings.Repeat("n", 52)}},
		"a run just within its time": {{"spec.load", `{durationSeconds: 590, warmupSeconds: 9}`}},
		"a prefix of one's own":      {{"spec.target.keyPrefix", `bench/mine/`}},
		"a prefix of 64 parts":       {{"spec.target.keyPrefix", strings.Repeat("/", 64)}},
		"stop from the start":        {{"spec.stop", `true`}},
	}
	for name, edits := range tests {
		t.Run(name, func(t *testing.T) {
			if err := create(t, object(t, edits...)); err != nil {
				t.Errorf("wanted the object to be accepted, found: %v", err)
			}
		})
	}
}

func TestAdmissionRejects(t *testing.T) {
	tests := map[string]struct {
		edit edit
		// want is a part of the message.
		want string
	}{
		"no target":                     {edit{"spec.target", `{}`}, "exactly one of endpoints, service, pods, ephemeral and disk must be set, found none"},
		"two targets":                   {edit{"spec.target.service", `{name: etcd}`}, "exactly one of endpoints, service, pods, ephemeral and disk must be set, found more than one"},
		"three targets":                 {edit{"spec.target", `{endpoints: ["a:1"], service: {name: etcd}, pods: {selector: {matchLabels: {a: b}}}}`}, "exactly one of endpoints, service, pods, ephemeral and disk must be set, found more than one"},
		"no endpoints":                  {edit{"spec.target.endpoints", `[]`}, "at least 1 items"},
		"an endpoint without a port":    {edit{"spec.target.endpoints", `["etcd"]`}, "must be host:port"},
		"an endpoint with a path":       {edit{"spec.target.endpoints", `["http://etcd:2379/v3"]`}, "must be host:port"},
		"an endpoint in another scheme": {edit{"spec.target.endpoints", `["tcp://etcd:2379"]`}, "must be host:port"},
		"a bare IPv6 address":           {edit{"spec.target.endpoints", `["::1:2379"]`}, "must be host:port"},
		"an endpoint without a host":    {edit{"spec.target.endpoints", `[":2379"]`}, "must be host:port"},
		"port 0":                        {edit{"spec.target.endpoints", `["etcd:0"]`}, "a port from 1 to 65535"},
		"a port too high":               {edit{"spec.target.endpoints", `["etcd:65536"]`}, "a port from 1 to 65535"},
		"https without tls":             {edit{"spec.target.endpoints", `["https://etcd:2379"]`}, "spec.target.tls: Invalid value: must be set for https:// endpoints"},
		"http with tls":                 {edit{"spec.target", `{endpoints: ["http://etcd:2379"], tls: {secretName: certs}}`}, "write https:// or remove target.tls"},
		"an empty selector":             {edit{"spec.target", `{pods: {selector: {}}}`}, "target.pods.selector: Invalid value: must not be empty"},
		"a wrong operator":              {edit{"spec.target", `{pods: {selector: {matchExpressions: [{key: a, operator: Is, values: [b]}]}}}`}, "selector.matchExpressions: Invalid value: must have operator In or NotIn with values"},
		"an operator without values":    {edit{"spec.target", `{pods: {selector: {matchExpressions: [{key: a, operator: In}]}}}`}, "selector.matchExpressions: Invalid value: must have operator In or NotIn with values"},
		"values of Exists":              {edit{"spec.target", `{pods: {selector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}}}`}, "selector.matchExpressions: Invalid value: must have operator In or NotIn with values"},
		"a service port too high":       {edit{"spec.target", `{service: {name: etcd, port: 70000}}`}, "a number from 1 to 65535"},
		"a service port without a name": {edit{"spec.target", `{service: {name: etcd, port: ""}}`}, "a number from 1 to 65535"},
		"a second of one member":        {edit{"spec.target.memberIndex", `1`}, "spec.target.memberIndex: Invalid value: must be less than the number of members (1), found 1"},
		"negative member":               {edit{"spec.target.memberIndex", `-1`}, "spec.target.memberIndex: Invalid value: -1"},
		"65th member":                   {edit{"spec.target", `{service: {name: a}, memberIndex: 64}`}, "spec.target.memberIndex: Invalid value: 64"},
		"the leader and a member":       {edit{"spec.target", `{service: {name: a}, members: Leader, memberIndex: 0}`}, "spec.target.memberIndex: Invalid value: cannot be combined with members Leader or Followers"},
		"unknown members":               {edit{"spec.target.members", `Some`}, `supported values: "All", "Leader", "Followers"`},
		"a prefix without slash":        {edit{"spec.target.keyPrefix", `bench`}, "must end in a slash"},
		"a prefix of 65 parts":          {edit{"spec.target.keyPrefix", strings.Repeat("p/", 65)}, "must have at most 64 slashes"},
		"a prefix with a space":         {edit{"spec.target.keyPrefix", `"a b/"`}, "must consist of printable ASCII characters without spaces"},
		"the prefix of all prefixes":    {edit{"spec.target.keyPrefix", `etcdbench/`}, "must not be etcdbench/, which holds the lock of the target"},
		"an unknown workload":           {edit{"spec.workload", `{type: Rename}`}, `supported values: "Put", "Range", "Mixed"`},
		"a workload without its field":  {edit{"spec.workload", `{type: Put}`}, "needs the field put and no other"},
		"a field of another workload":   {edit{"spec.workload", `{type: Range, range: {}, put: {}}`}, "needs the field range and no other"},
		"a range without its field":     {edit{"spec.workload", `{type: Range}`}, "needs the field range and no other"},
		"a mix without its field":       {edit{"spec.workload", `{type: Mixed}`}, "needs the field mixed and no other"},
		"a put value too great":         {edit{"spec.workload.put.values.sizeBytes", `10480001`}, "values.sizeBytes: Invalid value: must be at most 10480000"},
		"a range value too great":       {edit{"spec.workload", `{type: Range, range: {values: {sizeBytes: 10480001}}}`}, "values.sizeBytes: Invalid value: must be at most 10480000"},
		"a mixed value too great":       {edit{"spec.workload", `{type: Mixed, mixed: {readPercent: 1, values: {sizeBytes: 10480001}}}`}, "values.sizeBytes: Invalid value: must be at most 10480000"},
		"a negative value size":         {edit{"spec.workload.put.values.sizeBytes", `-1`}, "greater than or equal to 0"},
		"a negative key size":           {edit{"spec.workload.put.keys.sizeBytes", `-1`}, "greater than or equal to 1"},
		"put keys that do not fit":      {edit{"spec.workload.put", `{keys: {count: 1001, sizeBytes: 3}}`}, "raise sizeBytes or lower count"},
		"range keys that do not fit":    {edit{"spec.workload", `{type: Range, range: {keys: {count: 11, sizeBytes: 1}}}`}, "raise sizeBytes or lower count"},
		"mixed keys that do not fit":    {edit{"spec.workload", `{type: Mixed, mixed: {readPercent: 1, keys: {count: 11, sizeBytes: 1}}}`}, "raise sizeBytes or lower count"},
		"no keys":                       {edit{"spec.workload.put", `{keys: {count: 0}}`}, "greater than or equal to 1"},
		"too many reads":                {edit{"spec.workload", `{type: Mixed, mixed: {readPercent: 101}}`}, "less than or equal to 100"},
		"zero clients":                  {edit{"spec.load.clients", `0`}, "greater than or equal to 1"},
		"zero pods":                     {edit{"spec.load.pods", `0`}, "greater than or equal to 1"},
		"negative connections":          {edit{"spec.load.connections", `-1`}, "greater than or equal to 1"},
		"more connections than clients": {edit{"spec.load.connections", `2`}, "spec.load.clients: Invalid value: must be at least load.connections (2), found 1 (default 1)"},
		"fewer connections than pods":   {edit{"spec.load.pods", `2`}, "spec.load.connections: Invalid value: must be at least load.pods (2), found 1 (default 1)"},
		"fewer requests than pods":      {edit{"spec.load", `{requests: 1, pods: 2, connections: 2, clients: 2}`}, "spec.load.requests: Invalid value: must be at least load.pods (2), found 1"},
		"requests and duration":         {edit{"spec.load.durationSeconds", `5`}, "set load.requests or load.durationSeconds, or neither with load.rate.stages: found both"},
		"neither requests nor duration": {edit{"spec.load", `{clients: 1}`}, "set load.requests or load.durationSeconds, or neither with load.rate.stages: found neither"},
		"no rate":                       {edit{"spec.load.rate", `{perSecond: 0}`}, "greater than or equal to 1"},
		"an unknown transport":          {edit{"spec.load.transport", `HTTP`}, `supported values: "Client"`},
		"a duration beyond the timeout": {edit{"spec.load", `{durationSeconds: 590, warmupSeconds: 10}`}, "spec.timeoutSeconds: Invalid value: must be greater than load.warmupSeconds plus load.durationSeconds (600 together), found 600 (default 600)"},
		"a rate that is too slow":       {edit{"spec.load", `{requests: 6000, rate: {perSecond: 10}}`}, "spec.timeoutSeconds: Invalid value: must be greater than load.requests divided by load.rate.perSecond, plus load.warmupSeconds (600 together), found 600 (default 600)"},
		"an objective without limit":    {edit{"spec.objectives", `[{name: a, type: Latency}]`}, "needs the field latency and no other"},
		"an objective of other type":    {edit{"spec.objectives", `[{name: a, type: Latency, latency: {operation: Range, statistic: P99, maxMicroseconds: 1}}]`}, "must be one that workload.type Put measures: Put"},
		"an objective with two limits":  {edit{"spec.objectives", `[{name: a, type: Latency, latency: {operation: Put, statistic: P99, maxMicroseconds: 1}, throughput: {minPerSecond: 1}}]`}, "needs the field latency and no other"},
		"a ratio without limit":         {edit{"spec.objectives", `[{name: a, type: ErrorRatio}]`}, "needs the field errorRatio and no other"},
		"two objectives of one name":    {edit{"spec.objectives", `[{name: a, type: Throughput, throughput: {minPerSecond: 1}}, {name: a, type: Throughput, throughput: {minPerSecond: 2}}]`}, "Duplicate value"},
		"a name too long":               {edit{"metadata.name", strings.Repeat("n", 53)}, "at most 52 characters"},
		"a timeout of 0":                {edit{"spec.timeoutSeconds", `0`}, "greater than or equal to 10"},
		"a negative ttl":                {edit{"spec.ttlSecondsAfterFinished", `-1`}, "greater than or equal to 0"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := create(t, object(t, tc.edit))
			if err == nil || !strings.Contains(refusal(err), tc.want) {
				t.Errorf("wanted a rejection that says %q, found: %v", tc.want, err)
			}
		})
	}
}

// TestImmutability adds, removes and changes fields that cannot change.
func TestImmutability(t *testing.T) {
	full := []edit{
		{"spec.target", `{endpoints: ["a:1"], members: Leader, tls: {secretName: s}, auth: {secretName: u}, keyPrefix: p/}`},
		{"spec.load", `{durationSeconds: 5, rate: {perSecond: 5}}`},
		{"spec.objectives", objectives}, {"spec.pod", affinity},
	}
	tests := map[string]struct {
		before []edit
		change edit
		want   string
	}{
		"add tls":               {nil, edit{"spec.target.tls", `{secretName: s}`}, "spec.target: Invalid value: field is immutable"},
		"remove tls":            {full, edit{"spec.target.tls", ""}, "spec.target: Invalid value: field is immutable"},
		"change tls":            {full, edit{"spec.target.tls.secretName", `other`}, "spec.target: Invalid value: field is immutable"},
		"add server name":       {full, edit{"spec.target.tls.serverName", `etcd.example`}, "spec.target: Invalid value: field is immutable"},
		"add auth":              {nil, edit{"spec.target.auth", `{secretName: s}`}, "spec.target: Invalid value: field is immutable"},
		"remove auth":           {full, edit{"spec.target.auth", ""}, "spec.target: Invalid value: field is immutable"},
		"change endpoints":      {nil, edit{"spec.target.endpoints", `["b:1"]`}, "spec.target: Invalid value: field is immutable"},
		"change the union":      {nil, edit{"spec.target", pods}, "spec.target: Invalid value: field is immutable"},
		"change members":        {nil, edit{"spec.target.members", `Followers`}, "spec.target: Invalid value: field is immutable"},
		"remove members":        {full, edit{"spec.target.members", ""}, "spec.target: Invalid value: field is immutable"},
		"add a prefix":          {nil, edit{"spec.target.keyPrefix", `q/`}, "spec.target: Invalid value: field is immutable"},
		"remove a prefix":       {full, edit{"spec.target.keyPrefix", ""}, "spec.target: Invalid value: field is immutable"},
		"change the workload":   {nil, edit{"spec.workload", mixed}, "spec.workload: Invalid value: field is immutable"},
		"change a value size":   {nil, edit{"spec.workload.put.values.sizeBytes", `1`}, "spec.workload: Invalid value: field is immutable"},
		"change keys":           {nil, edit{"spec.workload.put.keys.count", `1`}, "spec.workload: Invalid value: field is immutable"},
		"change requests":       {nil, edit{"spec.load.requests", `101`}, "spec.load: Invalid value: field is immutable"},
		"change the bound":      {nil, edit{"spec.load", `{durationSeconds: 5}`}, "spec.load: Invalid value: field is immutable"},
		"change clients":        {nil, edit{"spec.load.clients", `2`}, "spec.load: Invalid value: field is immutable"},
		"add a rate":            {nil, edit{"spec.load.rate", `{perSecond: 1}`}, "spec.load: Invalid value: field is immutable"},
		"remove a rate":         {full, edit{"spec.load.rate", ""}, "spec.load: Invalid value: field is immutable"},
		"change a seed":         {nil, edit{"spec.load.seed", `7`}, "spec.load: Invalid value: field is immutable"},
		"add objectives":        {nil, edit{"spec.objectives", objectives}, "spec.objectives: Invalid value: field is immutable"},
		"remove objectives":     {full, edit{"spec.objectives", ""}, "spec.objectives: Invalid value: field is immutable"},
		"change objectives":     {full, edit{"spec.objectives", strings.ReplaceAll(objectives, "25000", "1")}, "spec.objectives: Invalid value: field is immutable"},
		"add pod settings":      {nil, edit{"spec.pod", affinity}, "spec.pod: Invalid value: field is immutable"},
		"remove pod settings":   {full, edit{"spec.pod", ""}, "spec.pod: Invalid value: field is immutable"},
		"change pod settings":   {full, edit{"spec.pod.nodeSelector", `{a: b}`}, "spec.pod: Invalid value: field is immutable"},
		"change the timeout":    {nil, edit{"spec.timeoutSeconds", `601`}, "spec.timeoutSeconds: Invalid value: field is immutable"},
		"remove the scheduling": {[]edit{{"spec.schedulingTimeoutSeconds", `20`}}, edit{"spec.schedulingTimeoutSeconds", ""}, "spec.schedulingTimeoutSeconds: Invalid value: field is immutable"},
		"take back a stop":      {[]edit{{"spec.stop", `true`}}, edit{"spec.stop", `false`}, "spec.stop: Invalid value: can only change from false to true"},
		"remove a stop":         {[]edit{{"spec.stop", `true`}}, edit{"spec.stop", ""}, "spec.stop: Invalid value: can only change from false to true"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := object(t, tc.before...)
			if err := create(t, o); err != nil {
				t.Fatal(err)
			}
			apply(t, o, tc.change)
			if err := api.Update(t.Context(), o); err == nil || !strings.Contains(refusal(err), tc.want) {
				t.Errorf("wanted a rejection that says %q, found: %v", tc.want, err)
			}
		})
	}
}

func TestMutable(t *testing.T) {
	for name, changes := range map[string][]edit{
		"stop":                    {{"spec.stop", `true`}},
		"add, change, remove ttl": {{"spec.ttlSecondsAfterFinished", `10`}, {"spec.ttlSecondsAfterFinished", `20`}, {"spec.ttlSecondsAfterFinished", ""}},
		"labels":                  {{"metadata.labels", `{a: b}`}},
	} {
		t.Run(name, func(t *testing.T) {
			o := object(t)
			if err := create(t, o); err != nil {
				t.Fatal(err)
			}
			for _, c := range changes {
				apply(t, o, c)
				if err := api.Update(t.Context(), o); err != nil {
					t.Fatalf("setting %s to %q: %v", c.path, c.yaml, err)
				}
			}
		})
	}
}

// TestNewObjectWaits: tools that wait must not treat an object that the operator has not handled yet as finished.
func TestNewObjectWaits(t *testing.T) {
	o := object(t)
	if err := create(t, o); err != nil {
		t.Fatal(err)
	}
	conditions, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, c := range conditions {
		c := c.(map[string]any)
		got[c["type"].(string)] = fmt.Sprint(c["status"], "/", c["reason"])
	}
	if got["Finished"] != "False/Pending" || got["Reconciling"] != "True/Pending" {
		t.Errorf("wanted Finished=False/Pending and Reconciling=True, found %v", got)
	}
}
