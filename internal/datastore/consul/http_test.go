package consul

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/ownership"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// Faults that a real Consul does not show when a test wants them.

// addressedTo returns a driver of addresses.
func addressedTo(t *testing.T, endpoints ...string) *Driver {
	t.Helper()
	d := New(plan.Plan{Target: plan.Target{Datastore: spec.Consul, Endpoints: endpoints}}, 0)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// answering starts a server, and returns its address.
func answering(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func TestCodesOfErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		code string
		pass bool
	}{
		"no leader":                {&refusal{500, "No cluster leader"}, load.CodeUnavailable, true},
		"a follower":               {&refusal{500, "rpc error making call: EOF"}, load.CodeUnavailable, true},
		"a leader that steps down": {&refusal{500, "raft apply failed: leadership lost while committing log"}, load.CodeUnavailable, true},
		"a leader that was":        {&refusal{500, "node is not the leader"}, load.CodeUnavailable, true},
		"a new leader":             {&refusal{500, "Not ready to serve consistent reads"}, load.CodeUnavailable, true},
		"a leader without nodes":   {&refusal{500, "Missing node registration"}, load.CodeUnavailable, true},
		"a session that has ended": {&refusal{500, "rpc error making call: raft apply failed: invalid session \"a\""}, load.CodeNotFound, false},
		"another error":            {&refusal{500, "disk full"}, "Unknown", false},
		"without a right":          {&refusal{403, "Permission denied"}, "PermissionDenied", false},
		"a token that is gone":     {&refusal{500, "rpc error making call: ACL not found"}, "PermissionDenied", false},
		"a large value":            {&refusal{413, "too large"}, "OutOfRange", false},
		"too many connections":     {&refusal{429, "limit"}, "ResourceExhausted", false},
		"a host that is gone":      {&net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH}, load.CodeUnavailable, true},
		"a broken connection":      {fmt.Errorf("write: %w", &net.OpError{Op: "write", Err: syscall.EPIPE}), load.CodeUnavailable, true},
		"the time-out":             {context.DeadlineExceeded, load.CodeDeadlineExceeded, false},
	} {
		if code, pass := kindOf(tc.err).code, passes(tc.err); code != tc.code || pass != tc.pass {
			t.Errorf("%s: got %s, temporary %t; wanted %s, %t", name, code, pass, tc.code, tc.pass)
		}
	}
}

// Two requests fail at the same time at one of two addresses. Both reach the other one.
func TestRequestsThatFailTogetherChangeTheAddressOnce(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	var here atomic.Int64
	fails := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		if here.Add(1) > 2 {
			return
		}
		both.Done()
		both.Wait()
		hangUp(t, w)
	})
	d := addressedTo(t, fails, answering(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "true") }))
	var asking sync.WaitGroup
	for range 2 {
		asking.Go(func() {
			if _, _, err := d.ask(t.Context(), get(spec.RPCKVGet, pathOf("a")), everything); err != nil {
				t.Error(err)
			}
		})
	}
	if asking.Wait(); here.Load() != 2 {
		t.Errorf("%d requests went to the address that fails, wanted 2", here.Load())
	}
}

// hangUp closes the connection of a request.
func hangUp(t *testing.T, w http.ResponseWriter) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		err = connection.Close()
	}
	if err != nil {
		t.Error(err)
	}
}

// A page of a proxy is not an empty list of keys.
func TestAnAnswerThatIsNoList(t *testing.T) {
	for page, most := range map[string]int64{"<html>": itsStart, `{"error": "no"}`: itsStart, `["a", "b`: everything} {
		d := addressedTo(t, answering(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, page) }))
		if names, err := d.names(t.Context(), "a/", false, most); !errors.Is(err, errNotConsul) {
			t.Errorf("%s: got %q, %v", page, names, err)
		}
	}
}

// What answers at an address is not Consul, for example another store.
func TestServersThatAreNotConsul(t *testing.T) {
	for name, answer := range map[string]string{"nothing": "", "another protocol": "SSH-2.0\r\n\r\n", "a page": "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"} {
		endpoint := answering(t, func(w http.ResponseWriter, _ *http.Request) {
			connection, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_, err = connection.Write([]byte(answer))
				err = errors.Join(err, connection.Close())
			}
			if err != nil {
				t.Error(err)
			}
		})
		d := addressedTo(t, endpoint)
		_, err := d.healthOf(t.Context(), endpoint)
		if failure := load.FailureOf(d.explain(err, endpoint)); failure == nil || failure.Reason != results.FailureTargetUnhealthy || !strings.Contains(failure.Message, "HTTP port of a Consul server") {
			t.Errorf("%s: got %v, wanted advice about the port", name, failure)
		}
	}
}

// The start of a list that broke off is not the list.
func TestAListOfSessionsThatBreaksOff(t *testing.T) {
	var asked atomic.Int64
	d := addressedTo(t, answering(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `[{"ID": "a", "Name": "etcdbench u pod 0"}, {"ID": "b", "Name": "etcdbench v pod 0"}`)
		if asked.Add(1) == 1 {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, `, {"ID": "c", "Name": "etcdbench u pod 1"}]`)
	}))
	ids, err := (kv{d}).sessions(t.Context(), "u")
	if err != nil || !slices.Equal(ids, []string{"a", "c"}) {
		t.Errorf("found %q, %v", ids, err)
	}
	d = addressedTo(t, answering(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"error": "no"}`) }))
	if ids, err := (kv{d}).sessions(t.Context(), "u"); !errors.Is(err, errNotConsul) {
		t.Errorf("found %q, %v", ids, err)
	}
}

// Keys of others may have any name.
func TestNamesOfOthers(t *testing.T) {
	const name = "a b/%zz?x=1#y"
	var asked atomic.Pointer[string]
	d := addressedTo(t, answering(t, func(_ http.ResponseWriter, r *http.Request) { asked.Store(&r.URL.Path) }))
	if _, err := (kv{d}).DeleteAll(t.Context(), ownership.Key{Name: name, Version: 1}); err != nil {
		t.Fatal(err)
	}
	if got := *asked.Load(); got != kvPath+name {
		t.Errorf("asked for %q, wanted %q", got, kvPath+name)
	}
}

// A transaction that is refused for another reason than the marker's index does not look like a changed marker.
func TestATransactionThatIsRefused(t *testing.T) {
	// A server in the mode for developers writes JSON with spaces.
	for index, changed := range map[string]bool{"0": true, " 0": true, "1": false, "10": false} {
		d := addressedTo(t, answering(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusConflict)
			fmt.Fprintf(w, `{"Results":null,"Errors":[{"OpIndex":%s,"What":"no"}]}`, index)
		}))
		done, err := (kv{d}).DeleteIf(t.Context(), ownership.Key{Name: "m", Version: 1}, []ownership.Key{{Name: "a"}})
		if done || (err == nil) != changed {
			t.Errorf("operation %s: got %t, %v", index, done, err)
		}
	}
}

// net/http sends a read again if its connection breaks: both are counted, and the request has failed.
func TestAReadThatIsSentTwiceHasFailed(t *testing.T) {
	var requests atomic.Int64
	address := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, kvPath) || requests.Add(1) != 2 {
			fmt.Fprint(w, "[{}]")
			return
		}
		hangUp(t, w)
	})
	d := addressedTo(t, address)
	c, err := d.Connect(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for range 3 {
		var response load.Response
		c.Do(load.WithPhase(t.Context(), results.PhaseMeasured), &load.Request{Operation: spec.OperationRange, Key: []byte("a"), Timeout: 10 * time.Second}, &response)
		codes = append(codes, response.Code)
	}
	if sent := d.Requests()[spec.RPCKVGet][results.PhaseMeasured]; codes[0] != "" || codes[1] != load.CodeUnavailable || codes[2] != "" || sent != 4 || d.Resent() != 1 {
		t.Errorf("%d requests with the codes %q, %d of them again; wanted 4, and the second as Unavailable and again", sent, codes, d.Resent())
	}
}

// A server may answer requests of the load with anything: only what Consul answers is a success.
func TestAnswersToTheLoad(t *testing.T) {
	var answer atomic.Pointer[string]
	answer.Store(new("true"))
	var changes atomic.Int64
	d := addressedTo(t, answering(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			changes.Add(1)
		}
		status, body, _ := strings.Cut(*answer.Load(), " ")
		if strings.Contains(r.URL.RawQuery, "consistent") {
			status, body = "200", `[{"ModifyIndex": 7}]`
		}
		code, _ := strconv.Atoi(status)
		w.WriteHeader(max(code, 200))
		fmt.Fprint(w, body)
	}))
	c, err := d.Connect(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		operation    spec.Operation
		answer, code string
		lost         bool
	}{
		{spec.OperationPut, "200 true", "", false},
		{spec.OperationPut, "200 false", codeUnknown, false},
		{spec.OperationPut, "413 too large", codeTooLarge, false},
		{spec.OperationRange, `200 [{"Value": "eA=="}]`, "", false},
		{spec.OperationRange, "200 [", codeUnknown, false},
		{spec.OperationRange, "200 []", codeUnknown, false},
		{spec.OperationRange, "404 ", load.CodeNotFound, false},
		{spec.OperationDelete, "200 true", "", false},
		{spec.OperationDelete, "200 <html>", codeUnknown, false},
		{spec.OperationCompareAndSwap, "200 true", "", false},
		{spec.OperationCompareAndSwap, "200 false", "", true},
		{spec.OperationCompareAndSwap, "429 limit", "ResourceExhausted", false},
		{spec.OperationTxn, `200 {"Results": []}`, "", false},
		{spec.OperationTxn, `409 {"Errors": [{"OpIndex": 0, "What": "Permission denied"}]}`, codeDenied, false},
		{spec.OperationLeaseGrant, `200 {"ID": "a"}`, "", false},
		{spec.OperationLeaseGrant, "200 {}", codeUnknown, false},
		{spec.OperationSTM, "200 true", load.CodeUnimplemented, false},
	} {
		answer.Store(&tc.answer)
		var response load.Response
		c.Do(t.Context(), &load.Request{
			Operation: tc.operation, Key: []byte("a"), Value: []byte("x"), Pairs: []load.Pair{{Key: []byte("a")}}, Consistency: spec.Serializable, Needs: 1, Timeout: 10 * time.Second,
		}, &response)
		if response.Code != tc.code || response.Lost != tc.lost || response.Received < response.Sent || response.Sent == 0 {
			t.Errorf("%s answered by %q: %+v, wanted %q, lost %t", tc.operation, tc.answer, response, tc.code, tc.lost)
		}
	}
	if n := changes.Load(); n != 12 {
		t.Errorf("%d requests were changes, wanted 12", n)
	}
}

// The body of a transaction is JSON that Consul decodes.
func TestTransactionOfPuts(t *testing.T) {
	pairs := []load.Pair{{Key: []byte("etcdbench/1/0"), Value: []byte{0, 255, '"'}}, {Key: []byte("etcdbench/1/1"), Value: nil}}
	var steps []struct {
		KV struct {
			Verb, Key string
			Value     []byte
		}
	}
	if err := json.Unmarshal(setAll(pairs), &steps); err != nil || len(steps) != len(pairs) {
		t.Fatal(steps, err)
	}
	for i, p := range pairs {
		if step := steps[i].KV; step.Verb != "set" || step.Key != string(p.Key) || !bytes.Equal(step.Value, p.Value) {
			t.Errorf("found %+v, wanted %+v", step, p)
		}
	}
}

// A pod that creates no session could renew none.
func TestFewerLeasesThanPods(t *testing.T) {
	for leases, refused := range map[int64]bool{2: true, 3: false} {
		p := plan.Plan{Target: plan.Target{Endpoints: []string{answering(t, func(http.ResponseWriter, *http.Request) {})}}}
		p.Load.Pods, p.Workload = 3, spec.Workload{Type: spec.WorkloadLease, Lease: &spec.Lease{Operation: spec.LeaseKeepAlive, KeepAlive: &spec.KeepAlive{Leases: leases}}}
		d := New(p, 0)
		_, _, err := d.Preflight(t.Context())
		if failure := load.FailureOf(err); (failure.Reason == results.FailureInvalidPlan) != refused {
			t.Errorf("%d leases: %v", leases, err)
		}
		_ = d.Close()
	}
}

// Each consistency is another mode of Consul, and a swap reads in the strongest.
func TestModesOfReads(t *testing.T) {
	var query atomic.Pointer[string]
	d := addressedTo(t, answering(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			query.Store(&r.URL.RawQuery)
		}
		fmt.Fprint(w, "[{}]")
	}))
	c, err := d.Connect(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		operation   spec.Operation
		consistency spec.Consistency
		query       string
	}{
		{spec.OperationRange, spec.Linearizable, "consistent"}, {spec.OperationRange, spec.Leader, ""}, {spec.OperationRange, spec.Serializable, "stale"},
		{spec.OperationCompareAndSwap, spec.Serializable, "consistent"},
	} {
		var response load.Response
		c.Do(t.Context(), &load.Request{Operation: tc.operation, Key: []byte("a"), Consistency: tc.consistency, Timeout: 10 * time.Second}, &response)
		if got := *query.Load(); got != tc.query {
			t.Errorf("%s, %s: got the query %q, wanted %q", tc.operation, tc.consistency, got, tc.query)
		}
	}
}

// A client may get a lock before the response to its release arrives, and its own acquisition may have had an effect although
// its response was lost.
func TestReleases(t *testing.T) {
	var d *Driver
	var released []load.Instant
	address := answering(t, func(w http.ResponseWriter, r *http.Request) {
		switch query := r.URL.Query(); {
		case strings.HasPrefix(r.URL.Path, sessionPath):
			fmt.Fprint(w, `{"ID": "a"}`)
		case query.Has("acquire"):
			// The server notices the end of a request only after its body.
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		case query.Has("release"):
			released = append(released, d.handOffs.Freed(query.Get("release"), 7))
			fmt.Fprint(w, "true")
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
	p := plan.Plan{Target: plan.Target{Datastore: spec.Consul, Endpoints: []string{address}}}
	p.Workload = spec.Workload{Type: spec.WorkloadLock, Lock: &spec.Lock{Names: 1}}
	d = New(p, 0)
	defer d.Close()
	c, err := d.Connect(t.Context(), 0)
	if err == nil {
		c, err = c.(load.SharedConn).Client(t.Context(), 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	var response load.Response
	if c.Do(t.Context(), &load.Request{Operation: spec.OperationLockRelease, Timeout: 10 * time.Second}, &response); !response.Succeeded() || !slices.Equal(released, []load.Instant{7}) {
		t.Errorf("%+v; before its response, the release counts as done at %v, wanted 7, the time of the call", response, released)
	}
	if c.Do(t.Context(), &load.Request{Operation: spec.OperationLockAcquire, Timeout: 50 * time.Millisecond}, &response); response.Code != load.CodeDeadlineExceeded || response.Cleared == 0 || len(released) != 2 {
		t.Errorf("%+v; %d releases, wanted one after the acquisition that failed", response, len(released))
	}
}
