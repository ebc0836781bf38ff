package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
)

// twoTargets is smallSuite with another target.
var twoTargets = strings.Replace(smallSuite, "  workloads:", "  - {name: other, target: {endpoints: [\"127.0.0.2:2379\"]}}\n  workloads:", 1)

// etcdThatMarks is an etcd that leaves a file when it starts.
func etcdThatMarks(t *testing.T) (program, mark string) {
	t.Helper()
	etcd := etcdProgram(t)
	program = filepath.Join(t.TempDir(), "etcd")
	mark = program + "-started"
	must(t, os.WriteFile(program, []byte("#!/bin/sh\necho >>"+mark+"\nexec "+etcd+` "$@"`), 0o755))
	return program, mark
}

// Each target has the etcd that is named for it, and each run has new members.
func TestATargetHasItsOwnProgram(t *testing.T) {
	t.Parallel()
	program, mark := etcdThatMarks(t)
	c := call(twoTargets, "run", "--local", "-f", "-", "--members", "1", "--member-binary", "other="+program, "-o", "json")
	c.wantStatus(t, exitDone)
	var s v1alpha1.EtcdBenchmarkSuite
	must(t, json.Unmarshal([]byte(c.out.String()), &s))
	if started, err := os.ReadFile(mark); err != nil || len(started) != 4 || len(s.Status.Results) != 8 {
		t.Errorf("the etcd of one target started %d times (%v) in %d runs, wanted 4 of 8", len(started), err, len(s.Status.Results))
	}
}

const described = `
apiVersion: etcdbench.dev/v1alpha1
kind: EtcdBenchmark
metadata: {name: described}
spec:
  target: {ephemeral: {replicas: 2, image: "example.org/etcd:1"}}
  workload: {type: Put, put: {keys: {count: 1000}}}
  load: {requests: 50}
`

// A manifest that describes members needs no flag, and variables for another etcd are of no use to it. With addresses, it
// loads these.
func TestAManifestDescribesMembers(t *testing.T) {
	t.Setenv("ETCDCTL_ENDPOINTS", "127.0.0.1:1")
	t.Setenv("ETCDCTL_USER", "root:secret")
	for name, tc := range map[string]struct {
		args    []string
		members int
	}{
		"described":      {nil, 2},
		"another number": {[]string{"--members", "1"}, 1},
		"addresses":      {[]string{"--endpoints", etcdtest.Start(t, 1, nil).Endpoints[0], "--user="}, 1},
	} {
		c := call(described, append([]string{"run", "--local", "-f", "-", "-o", "json"}, tc.args...)...)
		c.wantStatus(t, exitDone)
		var run v1alpha1.EtcdBenchmark
		must(t, json.Unmarshal([]byte(c.out.String()), &run))
		if got := len(run.Status.Target.Members); got != tc.members || (run.Spec.Target.Ephemeral == nil) != (name == "addresses") {
			t.Errorf("%s: got %d members, wanted %d, and the target %+v", name, got, tc.members, run.Spec.Target)
		}
	}
}

// Targets of a suite can differ in what they describe; a flag replaces the number of their members.
func TestASuiteOfDescribedMembers(t *testing.T) {
	t.Parallel()
	const one, other = `{name: small, target: {ephemeral: {image: e, settings: {quota-backend-bytes: "123456789"}}}}`, `{name: large, target: {ephemeral: {image: e}}}`
	manifest := strings.Replace(smallSuite, `{name: etcd, target: {endpoints: ["127.0.0.1:2379"]}}`, one+"\n  - "+other, 1)
	c := call(manifest, "run", "--local", "-f", "-", "--members", "1", "-o", "json")
	c.wantStatus(t, exitDone)
	var s v1alpha1.EtcdBenchmarkSuite
	must(t, json.Unmarshal([]byte(c.out.String()), &s))
	if e := s.Spec.Targets[0].Target.Ephemeral; len(s.Status.Results) != 8 || e == nil || e.Replicas != 1 || len(e.Settings) != 1 {
		t.Errorf("got %d runs of %+v, wanted one for each of 8 cells, on one member with its setting", len(s.Status.Results), e)
	}
}

func TestFlagsAboutMembersAreRefused(t *testing.T) {
	program, _ := etcdThatMarks(t)
	link := filepath.Join(t.TempDir(), "etcd")
	must(t, os.Symlink(program, link))
	const old, recent = `{name: old, target: {ephemeral: {image: "etcd:v3.6"}}}`, `{name: recent, target: {ephemeral: {image: "etcd:v3.7"}}}`
	images := strings.Replace(smallSuite, `{name: etcd, target: {endpoints: ["127.0.0.1:2379"]}}`, old+"\n  - "+recent, 1)
	const stores = "{name: e, target: {ephemeral: {image: e}}}\n  - {name: c, target: {datastore: Consul, ephemeral: {image: c}}}"
	twoStores := strings.Replace(smallSuite, `{name: etcd, target: {endpoints: ["127.0.0.1:2379"]}}`, stores, 1)
	for name, tc := range map[string]struct{ stdin, args, want string }{
		"two stores":             {twoStores, "", "--member-binary c=FILE"},
		"two stores, members":    {twoStores, "--members 1", "--member-binary c=FILE"},
		"one program for stores": {twoStores, "--members 1 --member-binary " + program, "--member-binary TARGET=FILE"},
		"a program of one store": {twoStores, "--member-binary e=" + program, "--member-binary c=FILE"},
		// Both would run the same program, and be compared as two versions.
		"two images":             {images, "", "give each target its --member-binary"},
		"no members, a program":  {puts, "--member-binary " + program, "are for members that the command starts: add --members"},
		"no members, a folder":   {puts, "--data-dir /tmp", "are for members that the command starts: add --members"},
		"addresses, a program":   {puts, "--endpoints 127.0.0.1:1 --member-binary " + program, "remove --endpoints or --member-binary"},
		"addresses, a folder":    {puts, "--endpoints 127.0.0.1:1 --data-dir /tmp", "remove --endpoints or --data-dir"},
		"two names of a program": {images, "--member-binary old=" + program + " --member-binary recent=" + link, "give each target its --member-binary"},
		"an empty target":        {puts, "--members 1 --member-binary =" + program, "wanted FILE or TARGET=FILE"},
		"an empty folder":        {puts, "--members 1 --data-dir=", "--data-dir: wanted a folder"},
		"no such folder":         {puts, "--members 1 --data-dir /no/such/folder", "--data-dir: wanted a folder"},
		"a file, no folder":      {puts, "--members 1 --data-dir " + program, "--data-dir: wanted a folder"},
		"a read-only folder":     {twoTargets, "--members 1 --member-binary other=" + program + " --data-dir /proc", "--data-dir: wanted a folder"},
		"no such program":        {puts, "--members 1 --member-binary /no/such/etcd", "--member-binary: wanted a program that can be started: "},
		"no program":             {puts, "--members 1 --member-binary=", "wanted a file"},
		"no program of a target": {twoTargets, "--members 1 --member-binary=other=", "wanted a file"},
		"two programs":           {puts, "--members 1 --member-binary a --member-binary b", "the second one for the same target"},
		"a target of a run":      {puts, "--members 1 --member-binary a=" + program, "no target a"},
		"an unknown target":      {twoTargets, "--members 1 --member-binary a=" + program, "no target a"},
		"no such program, suite": {twoTargets, "--members 1 --member-binary other=/no/such/etcd", "/no/such/etcd"},
		"one program for all":    {twoTargets, "--members 1 --member-binary " + program, "all 2 targets"},
		"a user of described":    {described, "--user a:b", "have neither TLS nor users"},
		"a path with a sign":     {puts, "--members 1 --member-binary /no/such=etcd", "/no/such=etcd"},
	} {
		// What is refused is refused before anything starts, also by --dry-run.
		for _, mode := range [][]string{nil, {"--dry-run"}} {
			c := call(tc.stdin, slices.Concat([]string{"run", "--local", "-f", "-"}, strings.Fields(tc.args), mode)...)
			if got := c.end(t); got != exitFailed || !strings.Contains(c.err.String(), tc.want) || strings.Count(c.err.String(), "\n") != 1 {
				t.Errorf("%s: %s: got the exit status %d, wanted %q in one line:\n%s", name, mode, got, tc.want, c.err)
			}
		}
	}
}
