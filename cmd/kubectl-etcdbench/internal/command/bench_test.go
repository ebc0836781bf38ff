package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/access"
	"github.com/etcdbench/etcd-benchmark-operator/cmd/kubectl-etcdbench/internal/etcdtool"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
)

// toolFlag is a flag of etcd's tool in the table of docs/etcd-tool.md. Without a command it is a flag of several.
type toolFlag struct {
	command, name string
	// none: the table says that there is no equivalent.
	none bool
}

var (
	tableCode = regexp.MustCompile("`([^`]+)`")
	tableFlag = regexp.MustCompile(`--([a-z-]+)`)
)

// tableOfFlags reads the table. hack/verify/flags tests that it has every flag of the tool.
func tableOfFlags(t *testing.T) (out []toolFlag) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "etcd-tool.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## Flags of etcd's benchmark tool")
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		if !strings.HasPrefix(line, "| `") || len(cells) < 2 {
			continue
		}
		f := toolFlag{none: strings.HasPrefix(cells[1], "no")}
		for i, code := range tableCode.FindAllStringSubmatch(cells[0], -1) {
			if words, _, _ := strings.Cut(code[1], "--"); i == 0 {
				f.command = strings.TrimSpace(words)
			}
			for _, name := range tableFlag.FindAllStringSubmatch(code[1], -1) {
				f.name = name[1]
				out = append(out, f)
			}
		}
	}
	return out
}

// toolValue is a value of a flag, and what else it needs on the command line.
type toolValue struct{ beside, value string }

// toolValues are the values of flags, by command and flag or by flag alone. A flag without one gets the value 20.
func toolValues(files string) map[string]toolValue {
	certificates := "--cacert=" + files + " --cert=" + files + " --key=" + files
	several := "--prefix --key-space-size=30"
	return map[string]toolValue{
		"endpoints": {value: "127.0.0.1:9,127.0.0.1:10"},
		"conns":     {beside: "--clients=30"}, "watch-latency conns": {beside: "--streams=30"}, "watch-get conns": {beside: "--streams=100"},
		"cacert": {value: files}, "cert": {beside: certificates, value: files}, "key": {beside: certificates, value: files},
		"user": {value: "root:secret"}, "consistency": {value: "s"}, "rw-ratio": {value: "4"},
		"range limit": {beside: several}, "range count-only": {beside: several}, "range keys-only": {beside: several},
		"txn-mixed limit": {beside: "--key-space-size=30"}, "range prefix": {beside: "--key-space-size=30"}, "range paginate": {beside: "--prefix --key-space-size=10001 --keys-only"},
		"put sequential-keys": {beside: "--key-space-size=30"}, "put compact-interval": {value: "5s"}, "put compact-index-delta": {beside: "--compact-interval=5s"},
		"put check-hashkv": {}, "txn-put txn-ops": {beside: "--key-space-size=30"},
		"stm isolation": {value: "ss"}, "stm stm-locker": {value: "lock-rpc"}, "stm keys-per-txn": {beside: "--keys=30"},
		"watch watched-key-total": {beside: "--key-space-size=30"}, "watch key-space-size": {beside: "--watched-key-total=30"},
		"watch-get streams": {beside: "--watchers=100"},
	}
}

// toggles are the flags without a value.
var toggles = []string{
	"target-leader", "sample", "report-perfdash", "precise", "insecure-skip-tls-verify", "sequential-keys", "check-hashkv",
	"count-only", "keys-only", "prefix", "stream", "paginate", "prevkv",
}

// unchanged are flags that leave the manifest as it is: what they ask for is always so, is a form of the result, or is in
// the Secret that --cacert names.
var unchanged = []string{"sample", "end-key", "report-perfdash", "cert", "key"}

// argumentsOf are the command line of a flag, without and with it.
func argumentsOf(command string, f toolFlag, values map[string]toolValue) (without, with []string) {
	v, known := values[command+" "+f.name]
	if !known {
		v = values[f.name]
	}
	without = append([]string{"bench", command, "--local", "--print-manifest", "--endpoints=127.0.0.1:1"}, strings.Fields(v.beside)...)
	if command == "range" {
		without = append(without, "k")
	}
	flag := "--" + f.name
	if !slices.Contains(toggles, f.name) {
		if v.value == "" {
			v.value = "20"
		}
		flag += "=" + v.value
	}
	return without, append(slices.Clone(without), flag)
}

// Each flag of the table changes the field of the manifest that its help names, or is refused where the table says that
// there is none. The manifest stays valid.
func TestBenchTakesEachFlagOfTheTable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tls")
	if err := os.WriteFile(file, []byte("a certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	table, values := tableOfFlags(t), toolValues(file)
	if len(table) < 60 {
		t.Fatalf("found %d flags in the table", len(table))
	}
	for _, f := range table {
		commands := []string{f.command}
		if f.command == "" {
			commands = having(f.name)
		}
		for _, command := range commands {
			tried := f
			// The table says that their streams have a field of their own.
			tried.none = f.none || f.name == "clients" && strings.HasPrefix(command, "watch-")
			t.Run(command+" "+f.name, func(t *testing.T) { tryFlag(t, command, tried, values) })
		}
	}
}

// having are the commands that have a flag.
func having(name string) (out []string) {
	for _, c := range etcdtool.Commands() {
		cmd := (&tool{kube: &kubeFlags{}}).benchOf(c)
		if cmd.Flags().Lookup(name) != nil {
			out = append(out, c.Name)
		}
	}
	return out
}

func tryFlag(t *testing.T, command string, f toolFlag, values map[string]toolValue) {
	t.Helper()
	without, with := argumentsOf(command, f, values)
	c := call("", with...)
	if f.none {
		c.wantStatus(t, exitFailed)
		if advice := c.err.String(); c.out.String() != "" || len(advice) < 60 || strings.Contains(advice, "unknown flag") {
			t.Errorf("wanted a refusal with advice, found %q and %q", c.out, advice)
		}
		return
	}
	base := call("", without...)
	base.wantStatus(t, exitDone)
	c.wantStatus(t, exitDone)
	if same := base.out.String() == c.out.String(); same != slices.Contains(unchanged, f.name) {
		t.Errorf("the flag leaves the manifest unchanged: %v\n%s", same, c.out)
	}
	if err := yaml.UnmarshalStrict([]byte(c.out.String()), &v1alpha1.EtcdBenchmark{}); err != nil {
		t.Errorf("%v in\n%s", err, c.out)
	}
	if !slices.Contains(unchanged, f.name) && !slices.Contains(access.Names(), f.name) {
		wantField(t, helpOf(command, f.name), fieldsOf(t, base.out.String()), fieldsOf(t, c.out.String()), strings.HasSuffix(with[len(with)-1], "=20"))
	}
}

// helpOf returns the help of a flag.
func helpOf(command, name string) string {
	i := slices.IndexFunc(etcdtool.Commands(), func(c etcdtool.Command) bool { return c.Name == command })
	return (&tool{kube: &kubeFlags{}}).benchOf(etcdtool.Commands()[i]).Flags().Lookup(name).Usage
}

// namedField is the first field that the end of a flag's help names.
var namedField = regexp.MustCompile(`: ([a-z]\w*(?:\.\w+)+)`)

// wantField wants the field that the help of a flag names to differ, and to be 20 if the flag is.
func wantField(t *testing.T, help string, base, got map[string]string, is20 bool) {
	t.Helper()
	field := namedField.FindStringSubmatch(help)
	if field == nil {
		t.Errorf("the help names no field: %s", help)
		return
	}
	for path, value := range got {
		if strings.HasSuffix(path, "."+field[1]) && value != base[path] && (value == "20" || !is20) {
			return
		}
	}
	t.Errorf("%s is as before, or not the value of the flag:\n%v", field[1], got)
}

// fieldsOf returns the fields of a manifest with their values. The entries of a list have the same path.
func fieldsOf(t *testing.T, manifest string) map[string]string {
	t.Helper()
	var object any
	if err := yaml.Unmarshal([]byte(manifest), &object); err != nil {
		t.Fatal(err)
	}
	fields := map[string]string{}
	var add func(path string, value any)
	add = func(path string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, inner := range value {
				add(path+"."+name, inner)
			}
		case []any:
			for _, entry := range value {
				add(path, entry)
			}
		default:
			fields[path] = fmt.Sprint(value)
		}
	}
	add("", object)
	return fields
}

// Each command does on a real etcd what its flags ask for.
func TestBenchRunsEachCommand(t *testing.T) {
	endpoint := etcdtest.Start(t, 1, nil).Endpoints[0]
	tests := map[string]struct {
		args string
		// requests is 0 if a duration bounds the run.
		requests   int64
		operations []spec.Operation
	}{
		"put":             {"--total=60 --val-size=100 --key-space-size=10 --sequential-keys --conns=2 --clients=4", 60, []spec.Operation{spec.OperationPut}},
		"range":           {"k z --total=50 --key-space-size=5 --consistency=s", 50, []spec.Operation{spec.OperationRange}},
		"txn-put":         {"--total=40 --txn-ops=3 --key-space-size=10", 40, []spec.Operation{spec.OperationTxn}},
		"txn-mixed":       {"--total=80 --key-space-size=10 --rw-ratio=1", 80, []spec.Operation{spec.OperationRange, spec.OperationPut}},
		"stm":             {"--total=30 --keys=10 --keys-per-txn=2 --stm-locker=lock-client", 30, []spec.Operation{spec.OperationSTM}},
		"lease-keepalive": {"--total=30 --clients=3", 30, []spec.Operation{spec.OperationLeaseKeepAlive}},
		"watch":           {"--put-total=20 --streams=2 --watch-per-stream=3 --watched-key-total=2 --key-space-size=2 --sequential-keys", 20, []spec.Operation{spec.OperationPut, spec.OperationWatchEvent}},
		"watch-latency":   {"--put-total=20 --put-rate=200 --streams=2 --watchers-per-stream=3", 20, []spec.Operation{spec.OperationPut, spec.OperationWatchEvent}},
		"watch-get":       {"--watchers=20 --streams=2 --events=4 --duration-seconds=1", 0, []spec.Operation{spec.OperationRange}},
	}
	for _, command := range etcdtool.Commands() {
		tc, known := tests[command.Name]
		if !known {
			t.Errorf("no test runs %s", command.Name)
			continue
		}
		t.Run(command.Name, func(t *testing.T) {
			args := append([]string{"bench", command.Name, "--local", "--endpoints", endpoint, "-o", "json"}, strings.Fields(tc.args)...)
			c := call("", args...)
			c.wantStatus(t, exitDone)
			run := &v1alpha1.EtcdBenchmark{}
			if err := json.Unmarshal([]byte(c.out.String()), run); err != nil {
				t.Fatalf("%v in\n%s", err, c.out)
			}
			s := run.Status.Summary
			if s == nil || s.MeasuredRequests == 0 || tc.requests != 0 && s.MeasuredRequests != tc.requests || s.FailedRequests != 0 {
				t.Fatalf("wanted %d requests and no failure, found %+v", tc.requests, s)
			}
			for _, want := range tc.operations {
				if !slices.ContainsFunc(s.Operations, func(o v1alpha1.OperationSummary) bool { return o.Operation == want && o.Succeeded > 0 }) {
					t.Errorf("wanted %s, found %+v", want, s.Operations)
				}
			}
		})
	}
}

// What a watcher gets is counted: 3 watchers on each of 2 streams get each of 20 puts to one key.
func TestBenchCountsEvents(t *testing.T) {
	c := call("", strings.Fields("bench watch-latency --local --members 1 -o json --put-total=20 --put-rate=200 --streams=2 --watchers-per-stream=3")...)
	c.wantStatus(t, exitDone)
	run := &v1alpha1.EtcdBenchmark{}
	if err := json.Unmarshal([]byte(c.out.String()), run); err != nil {
		t.Fatal(err)
	}
	for _, o := range run.Status.Summary.Operations {
		if o.Operation == spec.OperationWatchEvent && o.Succeeded != 20*6 {
			t.Errorf("found %d events, wanted 120", o.Succeeded)
		}
	}
}

// The flag for one member alone is not one of etcd's tool. It works with addresses and with members in this process.
func TestBenchLoadsOneMember(t *testing.T) {
	c := call("", strings.Fields("bench put --print-manifest --endpoints a:1,b:1 --member-index 0")...)
	c.wantStatus(t, exitDone)
	if fieldsOf(t, c.out.String())[".spec.target.memberIndex"] != "0" {
		t.Errorf("found\n%s", c.out)
	}
	c = call("", strings.Fields("bench put --local --members 2 --member-index 1 --total 20 -o json")...)
	c.wantStatus(t, exitDone)
	run := &v1alpha1.EtcdBenchmark{}
	if err := json.Unmarshal([]byte(c.out.String()), run); err != nil {
		t.Fatal(err)
	}
	if s := run.Status; s.Display.Members != "2 (member 1 only)" || *s.Target.Members[0].Loaded || !*s.Target.Members[1].Loaded {
		t.Errorf("found %+v and %+v", s.Display, s.Target)
	}
}

func TestBenchRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		args, want string
	}{
		"no command":           {"", "bench --help"},
		"an unknown command":   {"puts", `found "puts"`},
		"the store alone":      {"mvcc put --key-size=8", "--backend-batch-interval"},
		"no target":            {"put --local", "--endpoints"},
		"two targets":          {"put --local --members=1 --endpoints=a:1", "give one of them"},
		"members of a cluster": {"put --members=1", "--local"},
		"a member too many":    {"put --local --endpoints=a:1 --member-index=1", "--member-index: Invalid value: must be less than the number of members (1)"},
		"files in a cluster":   {"put --endpoints=a:1 --cacert=x", "--set target.tls.secretName"},
		"no key":               {"range --local --endpoints=a:1", "range KEY [END]"},
		"three keys":           {"range a b c --local --endpoints=a:1", "range KEY [END]"},
		"keys of a put":        {"put a --local --endpoints=a:1", "found 1 argument"},
		"an interval of one":   {"range a b --local --endpoints=a:1", "--key-space-size"},
		"a consistency":        {"range a --consistency=x --local --endpoints=a:1", `--consistency: wanted l`},
		"an isolation":         {"stm --isolation=x --local --endpoints=a:1", "--isolation: wanted c, r, s or ss"},
		"a locker":             {"stm --stm-locker=x --local --endpoints=a:1", "--stm-locker: wanted stm"},
		"both ways":            {"range a --stream --paginate --local --endpoints=a:1", "remove one of them"},
		"part of a second":     {"put --compact-interval=1500ms --local --endpoints=a:1", "whole seconds"},
		"a negative ratio":     {"txn-mixed --rw-ratio=-1 --local --endpoints=a:1", "--rw-ratio"},
		"uneven watchers":      {"watch-get --watchers=10 --streams=3 --local --endpoints=a:1", "multiple of --streams"},
		"clients of a watcher": {"watch-latency --clients=2 --local --endpoints=a:1", "--clients: watch-latency has one client"},
		"no requests":          {"put --total=0 --local --endpoints=a:1", "--total"},
		"forms of a result":    {"put --report-perfdash -o json --local --endpoints=a:1", "the same as -o perfdash"},
		"lines without a form": {"put --interval=5s --local --endpoints=a:1", "add -o jsonl"},
		"a cluster and local":  {"put --context=c --local --endpoints=a:1", "--context selects a cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			args := strings.Fields(tc.args)
			if slices.Contains(args, "--local") {
				args = append(args, "--print-manifest")
			}
			c := call("", append([]string{"bench"}, args...)...)
			c.wantStatus(t, exitFailed)
			if !strings.Contains(c.err.String(), tc.want) {
				t.Errorf("found %s, wanted %q in it", c.err, tc.want)
			}
		})
	}
}

// A printed manifest can be run: it is the same as what bench runs.
func TestBenchPrintsWhatItRuns(t *testing.T) {
	endpoint := etcdtest.Start(t, 1, nil).Endpoints[0]
	printed := call("", "bench", "put", "--endpoints", endpoint, "--total=30", "--clients=3", "--print-manifest")
	printed.wantStatus(t, exitDone)
	c := call(printed.out.String(), "run", "--local", "-f", "-", "-o", "json")
	c.wantStatus(t, exitDone)
	run := &v1alpha1.EtcdBenchmark{}
	if err := json.Unmarshal([]byte(c.out.String()), run); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(run.Status.Summary.MeasuredRequests, run.Spec.Load.Clients, run.Spec.Target.Endpoints); got != fmt.Sprint(30, 3, []string{endpoint}) {
		t.Errorf("found %s", got)
	}
}
