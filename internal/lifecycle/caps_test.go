package lifecycle

import (
	"maps"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/api/v1alpha1"
)

func patterns(t *testing.T, texts ...string) (out []HostPattern) {
	t.Helper()
	for _, text := range texts {
		p, err := ParseHostPattern(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

func TestHostPatterns(t *testing.T) {
	tests := map[string]struct {
		pattern string
		yes, no []string
	}{
		"range":        {"10.1.0.0/16", []string{"10.1.2.3", "::ffff:10.1.2.3"}, []string{"10.2.0.1", "etcd.example", "10.1.2.3.example"}},
		"range, of v6": {"fd00::/8", []string{"fd00::1"}, []string{"fe80::1", "10.0.0.1"}},
		"address":      {"192.0.2.7", []string{"192.0.2.7"}, []string{"192.0.2.70", "192.0.2.8"}},
		"name":         {"etcd.example", []string{"etcd.example", "ETCD.example"}, []string{"x.etcd.example", "etcd.example.org"}},
		"any of those": {"*.etcd.svc", []string{"etcd-0.etcd.svc", "a.b.etcd.svc"}, []string{"etcd.svc", "etcd.svc.example"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := patterns(t, tc.pattern)[0]
			for _, host := range tc.yes {
				if !p.matches(host) {
					t.Errorf("%s does not match %s", p, host)
				}
			}
			for _, host := range tc.no {
				if p.matches(host) {
					t.Errorf("%s matches %s", p, host)
				}
			}
		})
	}
	for _, bad := range []string{"", "[", "a b", "etcd:2379", "10.0.0.0/33", "http://etcd"} {
		if _, err := ParseHostPattern(bad); err == nil {
			t.Errorf("%q was accepted as a pattern", bad)
		}
	}
}

func caps(c Caps) change { return func(o *Observed) { o.Caps = c } }

func rate(r *spec.Rate) change { return func(o *Observed) { o.Run.Spec.Load.Rate = r } }

// The scenario has two pods and the address 127.0.0.1.
func TestCaps(t *testing.T) {
	local, other := patterns(t, "127.0.0.0/8", "*.etcd.svc"), patterns(t, "10.0.0.0/8", "*.etcd.svc")
	before := func(n int64) change { return func(o *Observed) { o.RunsBefore = n } }
	tests := map[string]struct {
		seen   Observed
		want   string
		report string
	}{
		"none":               {scenario(resolved), "", ""},
		"an allowed address": {scenario(resolved, caps(Caps{Endpoints: local})), "", ""},
		"another address":    {scenario(resolved, caps(Caps{Endpoints: other})), v1alpha1.ReasonEndpointNotAllowed, "127.0.0.1:2379"},
		"not resolved yet":   {scenario(caps(Caps{Endpoints: other})), "", ""},
		"as many pods":       {scenario(resolved, caps(Caps{PodsPerRun: 2})), "", ""},
		"more pods":          {scenario(caps(Caps{PodsPerRun: 1})), v1alpha1.ReasonLimitExceeded, "load.pods is 2"},
		"a closed loop":      {scenario(caps(Caps{RatePerRun: 100})), v1alpha1.ReasonLimitExceeded, "closed loop"},
		"the rate":           {scenario(caps(Caps{RatePerRun: 100}), rate(&spec.Rate{PerSecond: 100})), "", ""},
		"above the rate":     {scenario(caps(Caps{RatePerRun: 100}), rate(&spec.Rate{PerSecond: 101})), v1alpha1.ReasonLimitExceeded, "101"},
		"a ramp above it":    {scenario(caps(Caps{RatePerRun: 100}), rate(&spec.Rate{Ramp: &spec.Ramp{FromPerSecond: 200, ToPerSecond: 1}})), v1alpha1.ReasonLimitExceeded, "200"},
		"a stage above it":   {scenario(caps(Caps{RatePerRun: 100}), rate(&spec.Rate{Stages: []spec.RateStage{{PerSecond: 1}, {PerSecond: 300}}})), v1alpha1.ReasonLimitExceeded, "300"},
		"room for a run":     {scenario(caps(Caps{RunsPerNamespace: 3}), before(2)), "", ""},
		"no room for a run":  {scenario(caps(Caps{RunsPerNamespace: 3}), before(3)), "", ""},
		"once admitted":      {scenario(startSet(t0), caps(Caps{PodsPerRun: 1, RunsPerNamespace: 1, RatePerRun: 1, Endpoints: other}), before(9)), "", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			d := Decide(tc.seen, t0)
			if tc.want == "" {
				if d.Ending != nil {
					t.Errorf("wanted it to continue, found %+v", d.Ending)
				}
				return
			}
			if d.Finish == nil || d.Finish.Reason != tc.want || !strings.Contains(d.Finish.Message, tc.report) || len(d.Actions) > 0 {
				t.Errorf("wanted it refused as %s with %q, without actions, found %+v", tc.want, tc.report, d)
			}
		})
	}
}

func acknowledged(o *Observed) {
	o.Run.Spec.Guard = &spec.Guard{AcknowledgeControlPlane: true}
}

// The scenario's address is 127.0.0.1:2379.
func TestTheControlPlaneIsKnownByItsAddresses(t *testing.T) {
	at := func(endpoint string) change {
		return func(o *Observed) { o.Run.Status.Target.Endpoints = []string{"198.51.100.1:2379", endpoint} }
	}
	tests := map[string]struct {
		configured string
		also       change
		refused    bool
	}{
		"the address":           {"127.0.0.1", nil, true},
		"the address and port":  {"127.0.0.1:2379", nil, true},
		"another port":          {"127.0.0.1:2381", nil, false},
		"a range":               {"127.0.0.0/28", nil, true},
		"a range at a port":     {"127.0.0.0/28:2379", nil, true},
		"another range":         {"10.0.0.0/28", nil, false},
		"the name":              {"etcd.example:2379", at("ETCD.example.:2379"), true},
		"names":                 {"*.example", at("etcd-0.example:2379"), true},
		"another name":          {"etcd.example", at("etcd.example.org:2379"), false},
		"an address of v6":      {"[fd00::1]:2379", at("[fd00:0::1]:2379"), true},
		"v4 as v6":              {"192.0.2.0/24", at("[::ffff:192.0.2.1]:2379"), true},
		"a zone":                {"fe80::/10", at("[fe80::1%eth0]:2379"), true},
		"what is acknowledged":  {"127.0.0.1", acknowledged, false},
		"once admitted":         {"127.0.0.1", startSet(t0), false},
		"nothing is configured": {"", nil, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := scenario(resolved)
			if tc.also != nil {
				tc.also(&o)
			}
			if tc.configured != "" {
				p, err := ParseEndpointPattern(tc.configured)
				if err != nil {
					t.Fatal(err)
				}
				o.Caps.ControlPlane = []EndpointPattern{p}
			}
			d := Decide(o, t0)
			if refused := d.Finish != nil && d.Finish.Reason == v1alpha1.ReasonControlPlaneTarget; refused != tc.refused {
				t.Errorf("refused: %v, wanted %v; found %+v", refused, tc.refused, d)
			}
		})
	}
	for _, bad := range []string{"", ":2379", "etcd:", "etcd:0", "etcd:65536", "etcd:client", "https://etcd", "a b:1"} {
		if _, err := ParseEndpointPattern(bad); err == nil {
			t.Errorf("%q was accepted as a pattern", bad)
		}
	}
}

// Names are resolved and checked together with the target, and not again later.
func TestTheControlPlaneIsKnownByResolvedNames(t *testing.T) {
	names := Names{
		"etcd.example":  {netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("fd00::1")},
		"other.example": {netip.MustParseAddr("198.51.100.1")},
	}
	tests := map[string]struct {
		configured, target string
		also               change
		refused            bool
	}{
		"a name that leads into a range":           {"192.0.2.0/28", "etcd.example:2379", nil, true},
		"however it is written":                    {"192.0.2.0/28", "ETCD.example.:2379", nil, true},
		"at the port":                              {"192.0.2.0/28:2379", "etcd.example:2379", nil, true},
		"at another port":                          {"192.0.2.0/28:2381", "etcd.example:2379", nil, false},
		"by its second address":                    {"fd00::/8", "etcd.example:2379", nil, true},
		"a name that leads elsewhere":              {"192.0.2.0/28", "other.example:2379", nil, false},
		"a name that leads nowhere":                {"192.0.2.0/28", "unknown.example:2379", nil, false},
		"an address to which a configured name is": {"etcd.example", "192.0.2.1:2379", nil, true},
		"another address":                          {"etcd.example", "192.0.2.2:2379", nil, false},
		"a configured name that leads nowhere":     {"unknown.example", "192.0.2.1:2379", nil, false},
		"another name for the same":                {"etcd.example:2379", "alias.example:2379", func(o *Observed) { o.Target.Names["alias.example"] = names["etcd.example"][:1] }, true},
		"patterns of names lead nowhere":           {"*.example.org", "etcd.example:2379", nil, false},
		"what is acknowledged":                     {"192.0.2.0/28", "etcd.example:2379", acknowledged, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := ParseEndpointPattern(tc.configured)
			if err != nil {
				t.Fatal(err)
			}
			o := scenario(caps(Caps{ControlPlane: []EndpointPattern{p}}))
			o.Target = Target{Endpoints: []string{tc.target}, Names: maps.Clone(names)}
			if tc.also != nil {
				tc.also(&o)
			}
			d := Decide(o, t0)
			if refused := d.Finish != nil && d.Finish.Reason == v1alpha1.ReasonControlPlaneTarget; refused != tc.refused {
				t.Errorf("refused: %v, wanted %v; found %+v", refused, tc.refused, d)
			}
			if tc.refused && len(d.Endpoints) > 0 {
				t.Errorf("the addresses %v were kept of a target that is refused", d.Endpoints)
			}
		})
	}
}

func TestNamesToLookUp(t *testing.T) {
	var configured []EndpointPattern
	for _, text := range []string{"10.0.0.0/28:2379", "192.0.2.1", "etcd.example:2379", "*.example"} {
		p, err := ParseEndpointPattern(text)
		if err != nil {
			t.Fatal(err)
		}
		configured = append(configured, p)
	}
	target := Target{Endpoints: []string{"127.0.0.1:2379", "[fd00::1]:2379", "etcd-0.etcd:2379"}}
	tests := map[string]struct {
		seen     Observed
		target   Target
		caps     Caps
		ofTarget []string
		own      []string
	}{
		"names, and no addresses":   {scenario(), target, Caps{ControlPlane: configured}, []string{"etcd-0.etcd"}, []string{"etcd.example"}},
		"nothing is configured":     {scenario(), target, Caps{}, nil, nil},
		"what is acknowledged":      {scenario(acknowledged), target, Caps{ControlPlane: configured}, nil, nil},
		"once it is resolved":       {scenario(resolved), target, Caps{ControlPlane: configured}, nil, nil},
		"while it is not there":     {scenario(), Target{Missing: "nothing there"}, Caps{ControlPlane: configured}, nil, nil},
		"only addresses of a range": {scenario(), target, Caps{ControlPlane: configured[:1]}, []string{"etcd-0.etcd"}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			ofTarget, own := NamesToLookUp(tc.seen.Run, tc.target, tc.caps)
			if diff := cmp.Diff([][]string{tc.ofTarget, tc.own}, [][]string{ofTarget, own}); diff != "" {
				t.Errorf("names of the target, and of the configuration (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRunsBefore(t *testing.T) {
	own := onTarget("own", 10, "a:1")
	elsewhere := onTarget("x", 1, "a:1")
	elsewhere.Namespace = "other"
	all := []v1alpha1.EtcdBenchmark{
		own, elsewhere, onTarget("older", 5, "b:1"), onTarget("younger", 11, "c:1"), with(onTarget("in", 12, "d:1"), admittedIn(12)),
		with(onTarget("waits", 2, "a:1"), waitsFor(v1alpha1.QueueAddresses)), with(onTarget("held", 3, "a:1"), waitsFor(v1alpha1.QueueLimit)),
		with(onTarget("over", 1, "a:1"), over("True")),
	}
	if got := RunsBefore(&own, all); got != 3 {
		t.Errorf("%d runs came before, wanted the older one, the active one and the older one that waits for the limit", got)
	}
}
