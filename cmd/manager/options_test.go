package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/controllers"
)

func TestParseOptions(t *testing.T) {
	tests := map[string]struct {
		args []string
		want options
		// wantError is a part of the message; empty for none.
		wantError string
	}{
		"the least": {
			args: []string{"--client-image=i"},
			want: options{clientImage: "i", metricsAddress: ":8443", probeAddress: ":8081", workers: 16, memberUser: 65532},
		},
		"all": {
			args: []string{"--client-image=i", "--metrics-bind-address=0", "--metrics-certificate=/tls", "--health-probe-bind-address=:1", "--leader-elect", "--leader-election-namespace=ns", "--namespaces=a, b,,", "--workers=8"},
			want: options{clientImage: "i", metricsAddress: "0", metricsCertificate: "/tls", probeAddress: ":1", leaderElect: true, leaderElectionNamespace: "ns", namespaces: []string{"a", "b"}, workers: 8, memberUser: 65532},
		},
		"log and profiles": {
			args: []string{"--client-image=i", "--log-level=debug", "--log-format=text", "--pprof-bind-address=[::1]:6060"},
			want: options{clientImage: "i", metricsAddress: ":8443", probeAddress: ":8081", workers: 16, memberUser: 65532, pprofAddress: "[::1]:6060", log: logOptions{level: slog.LevelDebug, isText: true}},
		},
		"caps": {
			args: []string{"--client-image=i", "--allowed-endpoints=10.0.0.0/8, *.etcd.svc", "--max-pods-per-run=1", "--max-runs-per-namespace=2", "--max-rate-per-run=3"},
			want: options{
				clientImage: "i", metricsAddress: ":8443", probeAddress: ":8081", workers: 16, memberUser: 65532,
				caps: controllers.Caps{Endpoints: parsed(t, controllers.ParseHostPattern, "10.0.0.0/8", "*.etcd.svc"), PodsPerRun: 1, RunsPerNamespace: 2, RatePerRun: 3},
			},
		},
		"control plane": {
			args: []string{"--client-image=i", "--control-plane-endpoints=10.0.0.0/28, etcd.example:2379"},
			want: options{
				clientImage: "i", metricsAddress: ":8443", probeAddress: ":8081", workers: 16, memberUser: 65532,
				caps: controllers.Caps{ControlPlane: parsed(t, controllers.ParseEndpointPattern, "10.0.0.0/28", "etcd.example:2379")},
			},
		},
		"members": {
			args: []string{"--client-image=i", "--member-images=example.org/etcd:*, example.org/kine:1", "--max-members-per-run=3", "--max-member-storage=20Gi", "--member-user=0"},
			want: options{
				clientImage: "i", metricsAddress: ":8443", probeAddress: ":8081", workers: 16,
				caps: controllers.Caps{MemberImages: parsed(t, controllers.ParseImagePattern, "example.org/etcd:*", "example.org/kine:1"), MembersPerRun: 3, MemberStorageBytes: 20 << 30},
			},
		},
		"kubelets": {
			args: []string{"--client-image=i", "--kubelet-port=10250", "--kubelet-ca=/ca.crt"},
			want: options{
				clientImage: "i", metricsAddress: ":8443", probeAddress: ":8081", workers: 16, memberUser: 65532,
				kubelets: controllers.KubeletConfig{Port: 10250, CAFile: "/ca.crt"},
			},
		},
		"a CA for nothing": {args: []string{"--client-image=i", "--kubelet-port=10250", "--kubelet-ca=/ca.crt", "--kubelet-insecure"}, wantError: "not both"},
		"no level":         {args: []string{"--client-image=i", "--log-level=loud"}, wantError: "wanted debug, info or error"},
		"no format":        {args: []string{"--client-image=i", "--log-format=xml"}, wantError: "wanted json or text"},
		"open profiles":    {args: []string{"--client-image=i", "--pprof-bind-address=:6060"}, wantError: "loopback address"},
		"a pod's address":  {args: []string{"--client-image=i", "--pprof-bind-address=10.0.0.1:6060"}, wantError: "loopback address"},
		"no size":          {args: []string{"--client-image=i", "--max-member-storage=much"}, wantError: "max-member-storage"},
		"a pattern":        {args: []string{"--client-image=i", "--member-images=etcd:[0-9]"}, wantError: "wanted an image such as"},
		"no port":          {args: []string{"--client-image=i", "--control-plane-endpoints=etcd:none"}, wantError: "etcd:none"},
		"no host":          {args: []string{"--client-image=i", "--allowed-endpoints=etcd:2379"}, wantError: "without a port"},
		"less than none":   {args: []string{"--client-image=i", "--max-pods-per-run=-1"}, wantError: "at least 0"},
		"no worker":        {args: []string{"--client-image=i", "--workers=0"}, wantError: "--workers=0, wanted at least 1"},
		"no image":         {wantError: "--client-image"},
		"a word too much":  {args: []string{"--client-image=i", "now"}, wantError: `"now"`},
		"an unknown flag":  {args: []string{"--fast"}, wantError: "-fast"},
		"version needs no image": {
			args: []string{"--version"},
			want: options{metricsAddress: ":8443", probeAddress: ":8081", workers: 16, memberUser: 65532, version: true},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseOptions(tc.args, io.Discard)
			if tc.wantError != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantError) {
					t.Errorf("wanted an error that says %q, found %v", tc.wantError, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(options{}, logOptions{}), cmp.Comparer(samePattern), cmp.Comparer(sameEndpoints)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func samePattern(a, b controllers.HostPattern) bool { return a == b }

func sameEndpoints(a, b controllers.EndpointPattern) bool { return a == b }

func parsed[T any](t *testing.T, parse func(string) (T, error), texts ...string) (out []T) {
	t.Helper()
	for _, text := range texts {
		item, err := parse(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, item)
	}
	return out
}

func TestStatusOfCommandLines(t *testing.T) {
	tests := map[string]struct {
		args []string
		want int
	}{
		"help":                        {[]string{"--help"}, exitDone},
		"version":                     {[]string{"--version"}, exitDone},
		"an unknown flag":             {[]string{"--fast"}, exitUsage},
		"a word too much":             {[]string{"--client-image=i", "now"}, exitUsage},
		"no image":                    {nil, exitUsage},
		"uninstall, help":             {[]string{"uninstall", "--help"}, exitDone},
		"uninstall, an unknown flag":  {[]string{"uninstall", "--fast"}, exitUsage},
		"uninstall, a word too much":  {[]string{"uninstall", "now"}, exitUsage},
		"a cluster that is not there": {[]string{"--client-image=i", "--kubeconfig=/no/such/file"}, exitFailed},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if err := run(context.Background(), tc.args); statusOf(err) != tc.want {
				t.Errorf("wanted exit status %d, found %d: %v", tc.want, statusOf(err), err)
			}
		})
	}
}

func TestOnlyHelpPrintsHelp(t *testing.T) {
	var help, bad strings.Builder
	if _, err := parseOptions([]string{"--help"}, &help); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("wanted help, found %v", err)
	}
	if text := help.String(); !strings.HasPrefix(text, "manager is the operator") || !strings.Contains(text, "-client-image") {
		t.Errorf("wanted the description of the manager and its flags, found:\n%s", text)
	}
	if _, err := parseOptions([]string{"--fast"}, &bad); err == nil || bad.Len() > 0 {
		t.Errorf("wanted an error and no help, found %v and:\n%s", err, bad.String())
	}
}

func TestHelpIsNoFailure(t *testing.T) {
	if err := run(context.Background(), []string{"--help"}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("wanted help, found %v", err)
	}
}

// TestLease: an outage of the API server of 30 s must not end the leader.
func TestLease(t *testing.T) {
	o := managerOptions(options{leaderElect: true}, scope{})
	if o.RenewDeadline.Seconds() <= 30+o.RetryPeriod.Seconds() || *o.LeaseDuration <= *o.RenewDeadline || !o.LeaderElectionReleaseOnCancel {
		t.Errorf("found lease %s, deadline %s, retry %s", o.LeaseDuration, o.RenewDeadline, o.RetryPeriod)
	}
}

// Both commands read the list of namespaces in the same way.
func TestUninstallReadsNamespacesAsTheManagerDoes(t *testing.T) {
	o, err := parseUninstall([]string{"--namespaces= a, b,,"}, io.Discard)
	if err != nil || !slices.Equal(o.namespaces, []string{"a", "b"}) {
		t.Errorf("got %q and %v, wanted a and b", o.namespaces, err)
	}
}
