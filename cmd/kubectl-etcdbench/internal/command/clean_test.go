package command

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
)

// A prefix whose UID belongs to an unfinished run of the cluster is never removed.
func TestCleanAsksTheCluster(t *testing.T) {
	run := createdRun(t)
	key := client.ObjectKeyFromObject(run)
	cluster := etcdtest.Start(t, 1, nil)
	etcd := cluster.Client(t, "", "")
	prefix := run.KeyPrefix()
	for name, value := range map[string]string{prefix + ".owner": string(run.UID), prefix + "00000001": "value", "etcdbench/unowned/00000001": "value"} {
		if _, err := etcd.Put(t.Context(), name, value); err != nil {
			t.Fatal(err)
		}
	}
	endpoints := []string{"--endpoints", cluster.Endpoints[0]}
	list := func(want ...string) {
		t.Helper()
		c := call("", append([]string{"clean"}, endpoints...)...)
		c.wantStatus(t, exitDone)
		for _, want := range append(want, "etcdbench/unowned/", "it has no marker") {
			if !strings.Contains(c.out.String(), want) {
				t.Errorf("wanted %q in\n%s", want, c.out)
			}
		}
		if !strings.Contains(c.err.String(), "Checked the runs of all namespaces") {
			t.Errorf("got %s", c.err)
		}
	}
	refuse := func(prefix, want string) {
		t.Helper()
		c := call("", append([]string{"clean", prefix}, endpoints...)...)
		c.wantStatus(t, exitFailed)
		if !strings.Contains(c.err.String(), want) {
			t.Errorf("%s: wanted %q, got %s", prefix, want, c.err)
		}
	}
	operate(t, key, stage(v1alpha1.StageRunning, metav1.ConditionFalse))
	list("in use by the run " + key.String() + ", which is Running")
	refuse(prefix, "in use by the run "+key.String())
	refuse(strings.TrimSuffix(prefix, "/"), "in use by the run "+key.String())
	refuse("etcdbench/unowned/", "it has no marker")
	refuse("etcdbench/nothing/", "it has no keys")

	// The addresses of a run that goes on are not taken: its keys are in use.
	operate(t, key, func(s *v1alpha1.EtcdBenchmarkStatus) { s.Target = &v1alpha1.TargetStatus{Endpoints: cluster.Endpoints} })
	unfinished := call("", "clean", "-n", key.Namespace)
	unfinished.wantStatus(t, exitFailed)
	if !strings.Contains(unfinished.err.String(), "add --endpoints") {
		t.Errorf("got %s", unfinished.err)
	}
	// The addresses of a finished run that left keys are those of the etcd.
	operate(t, key, func(s *v1alpha1.EtcdBenchmarkStatus) {
		stage(v1alpha1.ReasonTimedOut, metav1.ConditionTrue)(s)
		s.Target = &v1alpha1.TargetStatus{Endpoints: cluster.Endpoints}
	})
	list(key.String() + ", ended as TimedOut")
	endpoints = []string{"-n", key.Namespace}
	list(key.String() + ", ended as TimedOut")
}

// The addresses are those of the runs of the named store; without a name, of an etcd.
func TestCleanTakesTheAddressesOfItsStore(t *testing.T) {
	run := createdRun(t)
	cluster := etcdtest.Start(t, 1, nil)
	const nodes = "127.0.0.1:1"
	other := strings.NewReplacer("name: puts", "name: znodes", "{endpoints", "{datastore: ZooKeeper, endpoints").Replace(puts)
	call(other, "run", "-f", "-", "-n", run.Namespace, "--timeout", "1ms").wantStatus(t, exitUnknown)
	for name, endpoints := range map[string][]string{"puts": cluster.Endpoints, "znodes": {nodes}} {
		operate(t, client.ObjectKey{Namespace: run.Namespace, Name: name}, func(s *v1alpha1.EtcdBenchmarkStatus) {
			stage(v1alpha1.ReasonTimedOut, metav1.ConditionTrue)(s)
			s.Target = &v1alpha1.TargetStatus{Endpoints: endpoints}
		})
	}
	for store, tc := range map[string]struct {
		status int
		want   string
	}{
		"":          {exitDone, "Found no keys"},
		"Etcd":      {exitDone, "Found no keys"},
		"Kine":      {exitFailed, "No finished run"},
		"ZooKeeper": {exitFailed, nodes},
	} {
		c := call("", "clean", "-n", run.Namespace, "--datastore", store)
		c.wantStatus(t, tc.status)
		if !strings.Contains(c.err.String(), tc.want) {
			t.Errorf("%q: wanted %q, got %s", store, tc.want, c.err)
		}
	}
}

func TestCleanRefuses(t *testing.T) {
	ns := namespace(t)
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no etcd":          {nil, "No finished run"},
		"all, and one":     {[]string{"--endpoints", "127.0.0.1:1", "--yes", "etcdbench/a/"}, "remove it, or name no prefix"},
		"a short time":     {[]string{"--endpoints", "127.0.0.1:1", "--unchanged-for", "1s"}, "wanted 1m0s or more"},
		"half a pair":      {[]string{"--endpoints", "127.0.0.1:1", "--cert", "a"}, "belong together"},
		"no CA":            {[]string{"--endpoints", "https://127.0.0.1:1"}, "add --cacert"},
		"no file":          {[]string{"--endpoints", "127.0.0.1:1", "--cacert", "/no/such/file"}, "/no/such/file"},
		"nothing answers":  {[]string{"--endpoints", "127.0.0.1:1"}, "127.0.0.1:1"},
		"no token":         {[]string{"--datastore", "Consul", "--endpoints", "127.0.0.1:1", "--user", "a:b"}, "Consul takes --token-file, not --user"},
		"no user":          {[]string{"--datastore", "ZooKeeper", "--endpoints", "127.0.0.1:1", "--token-file", "/x"}, "ZooKeeper takes --user and --password, not --token-file"},
		"a user, no reply": {[]string{"--endpoints", "127.0.0.1:1", "--user", "root:secret"}, "127.0.0.1:1"},
	} {
		c := call("", append([]string{"clean", "-n", ns}, tc.args...)...)
		c.wantStatus(t, exitFailed)
		if !strings.Contains(c.err.String(), tc.want) {
			t.Errorf("%s: wanted %q, got %s", name, tc.want, c.err)
		}
	}
}

// Without the runs of a cluster, nothing is said about them, and no other command is advised.
func TestCleanWithoutTheRunsOfACluster(t *testing.T) {
	ns := namespace(t)
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no cluster": {[]string{"--context", "none"}, `"none" does not exist`},
		"no right":   {[]string{"--as", "guest"}, "forbidden"},
	} {
		c := call("", append([]string{"clean", "-n", ns}, tc.args...)...)
		c.wantStatus(t, exitFailed)
		got := c.err.String()
		if !strings.Contains(got, "add --endpoints") || !strings.Contains(got, tc.want) || strings.Contains(got, "No finished run") || strings.Contains(got, "run --local") {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

// With TLS and a user, as etcdctl takes them.
func TestCleanWithTLSAndAUser(t *testing.T) {
	authority := etcdtest.NewAuthority(t)
	cluster := etcdtest.Start(t, 1, authority)
	etcd := cluster.Client(t, "", "")
	ctx := t.Context()
	if _, err := etcd.UserAdd(ctx, "root", "secret"); err != nil {
		t.Fatal(err)
	}
	if _, err := etcd.UserGrantRole(ctx, "root", "root"); err != nil {
		t.Fatal(err)
	}
	if _, err := etcd.AuthEnable(ctx); err != nil {
		t.Fatal(err)
	}
	folder, ns := authority.SecretDir(t), namespace(t)
	args := []string{"clean", "-n", ns, "--endpoints", "https://" + cluster.Endpoints[0], "--cacert", folder + "/ca.crt", "--cert", folder + "/tls.crt", "--key", folder + "/tls.key"}
	for user, want := range map[string]string{"root:secret": "Found no keys under etcdbench/.", "root:wrong": "", "": ""} {
		t.Setenv("ETCDCTL_USER", user)
		c := call("", args...)
		status := exitFailed
		if want != "" {
			status = exitDone
		}
		c.wantStatus(t, status)
		if !strings.Contains(c.err.String(), want) {
			t.Errorf("%q: got %s", user, c.err)
		}
	}
}

// What this user may not read is never removed, although its owner is known.
func TestCleanLeavesWhatItMayNotRead(t *testing.T) {
	if got := (&owners{}).obstacle(ownership.Leftover{Owner: "a", Unread: true}); got == "" {
		t.Error("wanted an obstacle, found none")
	}
}
