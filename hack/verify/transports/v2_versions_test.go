//go:build versions

package transports

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// v2 is what the v2 API of a member counts: the requests that it has carried out, in any way.
type v2 struct{ GetsSuccess, GetsFail, SetsSuccess, SetsFail uint64 }

// ask reads JSON from a member.
func ask(t *testing.T, target plan.Target, path string, into any) {
	t.Helper()
	response, err := http.Get("http://" + target.Endpoints[0] + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(into); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", path, response.Status, err)
	}
}

// ofV2 is a plan over the v2 API.
func ofV2(target plan.Target, change func(*plan.Plan)) plan.Plan {
	return planFor(target, spec.TransportV2, 1, func(p *plan.Plan) {
		p.Ephemeral, p.Load.Requests = true, new(int64(1_000))
		change(p)
	})
}

func runV2(t *testing.T, p plan.Plan) (*results.Snapshot, error) {
	t.Helper()
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	session, err := load.NewSession(load.Config{Plan: p, Driver: etcd.New(p, 0), Control: atOnce{}})
	if err != nil {
		t.Fatal(err)
	}
	err = session.Run(t.Context())
	return session.Snapshot(), err
}

// The member counts the requests that a run sends, and has the keys and values that it writes.
func TestTheMemberCountsTheRequestsOverV2(t *testing.T) {
	_, target := start(t, "etcd-debian", nil, "--enable-v2")
	for name, change := range map[string]func(*plan.Plan){
		"puts":               func(*plan.Plan) {},
		"linearizable reads": workloads["reads"],
		"serializable reads": func(p *plan.Plan) {
			workloads["reads"](p)
			p.Workload.Range.Consistency = spec.Serializable
		},
	} {
		var before, after v2
		ask(t, target, "/v2/stats/store", &before)
		got, err := runV2(t, ofV2(target, change))
		if err != nil {
			t.Fatal(err)
		}
		ask(t, target, "/v2/stats/store", &after)
		sent := map[spec.RPC]uint64{}
		for rpc, phases := range got.Requests {
			for _, n := range phases {
				sent[rpc] += n
			}
		}
		// With each request, the member gets from its store whether it has users.
		gets, sets := after.GetsSuccess+after.GetsFail-before.GetsSuccess-before.GetsFail, after.SetsSuccess-before.SetsSuccess
		wanted := 2*sent[spec.RPCV2Get] + sent[spec.RPCV2Put]
		if sets > sent[spec.RPCV2Put] || sets+got.Resent < sent[spec.RPCV2Put] || gets > wanted || gets+2*got.Resent < wanted || after.SetsFail > 0 {
			t.Errorf("%s: the member counts %d gets and %d sets, and the run sent %v, %d of them again", name, gets, sets, sent, got.Resent)
		}
		operation, rpc := spec.OperationRange, spec.RPCV2Get
		if name == "puts" {
			operation, rpc = spec.OperationPut, spec.RPCV2Put
		}
		o := got.Operations[operation]
		if o.Latency.Count() != 1_000 || got.Requests[rpc][results.PhaseMeasured] != 1_000+got.Resent || len(o.Errors) > 0 {
			t.Errorf("%s: counted %d, sent %v, and %v failed", name, o.Latency.Count(), got.Requests, o.Errors)
		}
		var all struct {
			Node struct{ Nodes []struct{ Key, Value string } }
		}
		ask(t, target, "/v2/keys/", &all)
		if len(all.Node.Nodes) != 300 {
			t.Fatalf("%s: %d keys, wanted 300", name, len(all.Node.Nodes))
		}
		for _, n := range all.Node.Nodes {
			if len(n.Key) != len("/00000000") || len(n.Value) != 300 || strings.Count(n.Value, n.Value[:1]) > 100 {
				t.Fatalf("%s: found %+v", name, n)
			}
		}
	}
}

// A read of several keys has those of a directory, with all below it. Errors have the codes of gRPC and the member's words.
func TestRequestsOverV2(t *testing.T) {
	_, target := start(t, "etcd-debian", nil, "--enable-v2")
	d := etcd.New(ofV2(target, func(*plan.Plan) {}), 0)
	defer d.Close()
	if _, _, err := d.Preflight(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := d.Connect(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		operation    spec.Operation
		key, end     string
		needs        int64
		consistency  spec.Consistency
		code, detail string
	}{
		{spec.OperationPut, "a/b/1", "", 0, "", "", ""},
		{spec.OperationPut, "a/2", "", 0, "", "", ""},
		{spec.OperationPut, "b/3", "", 0, "", "", ""},
		{spec.OperationRange, "a/", "a0", 2, spec.Serializable, "", ""},
		{spec.OperationRange, "a/", "a0", 2, spec.Linearizable, "", ""},
		{spec.OperationRange, "", "0", 3, spec.Serializable, "", ""},
		{spec.OperationRange, "a/", "a0", 3, spec.Linearizable, load.CodeNotFound, "1 of 3 keys do not exist"},
		{spec.OperationRange, "c", "", 1, spec.Linearizable, load.CodeNotFound, "the key does not exist"},
		{spec.OperationRange, "c", "", 0, spec.Linearizable, "", ""},
		{spec.OperationPut, "a", "", 0, "", "Unknown", "Not a file: /a"},
		{spec.OperationDelete, "a/2", "", 0, "", load.CodeUnimplemented, ""},
	} {
		request := load.Request{Operation: step.operation, Key: []byte(prefix + step.key), Value: []byte{0, 1, 255}, Needs: step.needs, Consistency: step.consistency, Timeout: 10 * time.Second}
		if step.end != "" {
			request.End = []byte(prefix + step.end)
		}
		var got load.Response
		if c.Do(t.Context(), &request, &got); got.Code != step.code || step.detail != "" && got.Detail != step.detail {
			t.Errorf("request %d, %+v: got %q, %q", i, step, got.Code, got.Detail)
		}
	}
	var found struct{ Node struct{ Value string } }
	if ask(t, target, "/v2/keys/a/b/1", &found); found.Node.Value != "ab_" {
		t.Errorf("found the value %q", found.Node.Value)
	}
}

// A member without the v2 API is refused before anything is written, with its version and with what to set.
func TestMembersWithoutV2(t *testing.T) {
	for program, words := range map[string][]string{
		"etcd-debian": {"etcd 3.4.", `: set spec.target.ephemeral.settings: {enable-v2: "true"}`},
		"etcd-3.6":    {"etcd 3.6.", "start members of etcd 3.4 or 3.5", "enable-v2"},
	} {
		_, target := start(t, program, nil)
		got, err := runV2(t, ofV2(target, func(*plan.Plan) {}))
		failure := load.FailureOf(err)
		if failure == nil || failure.Reason != results.FailureUnsupported || got.Cleaning != results.CleaningNothingWritten {
			t.Fatalf("%s: %v, %s", program, err, got.Cleaning)
		}
		for _, word := range append(words, target.Endpoints[0]) {
			if !strings.Contains(fmt.Sprint(err), word) {
				t.Errorf("%s: %v does not say %s", program, err, word)
			}
		}
	}
}
