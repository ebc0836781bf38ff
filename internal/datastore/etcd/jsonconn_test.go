package etcd

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

// A member whose gateway refuses the load is refused before anything is written.
func TestPreflightSaysWhyTheGatewayRefuses(t *testing.T) {
	t.Parallel()
	t.Run("no gateway", func(t *testing.T) {
		cluster := etcdtest.Start(t, 1, nil, func(c *embed.Config) { c.EnableGRPCGateway = false })
		preflightFails(t, planFor(cluster.Endpoints, over(spec.TransportJSON)), results.FailureUnsupported, cluster.Endpoints[0], "--enable-grpc-gateway")
		connected(t, planFor(cluster.Endpoints, over(spec.TransportFast)))
	})
	t.Run("a certificate with a name", func(t *testing.T) {
		authority := etcdtest.NewAuthority(t)
		cluster := etcdtest.Start(t, 1, authority)
		client := cluster.Client(t, "", "")
		// The certificates of the test have this common name, which gRPC takes as the user.
		if _, err := client.UserAddWithOptions(t.Context(), "client", "", &clientv3.UserAddOptions{NoPassword: true}); err != nil {
			t.Fatal(err)
		}
		enableAuth(t, client)
		p := planFor(cluster.Endpoints, withTLS(authority.SecretDir(t), ""), withUser(t, "bench", "benchpass"), over(spec.TransportJSON))
		preflightFails(t, p, results.FailureAuthenticationFailed, cluster.Endpoints[0], `"client"`, "tls.crt", "spec.load.transport")
		connected(t, planFor(cluster.Endpoints, withTLS(authority.SecretDir(t), ""), withUser(t, "bench", "benchpass"), over(spec.TransportFast)))
	})
	t.Run("no user", func(t *testing.T) {
		cluster, client := oneMember(t)
		enableAuth(t, client)
		preflightFails(t, planFor(cluster.Endpoints, over(spec.TransportJSON)), results.FailureAuthenticationFailed, "spec.target.auth")
	})
}

// seen is a request that reached an HTTP server, with the length of the bodies.
type seen struct {
	path, from, protocol, encoding string
	sent, received                 int
}

// observed returns the address of an HTTP server in front of a member, and what has gone through it since the last call.
func observed(t *testing.T, member string) (address string, taken func() []seen) {
	t.Helper()
	var mutex sync.Mutex
	var all []seen
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		response, err := http.Post("http://"+member+r.URL.Path, "application/json", bytes.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		defer response.Body.Close()
		answer, _ := io.ReadAll(response.Body)
		mutex.Lock()
		all = append(all, seen{r.URL.Path, r.RemoteAddr, r.Proto, r.Header.Get("Accept-Encoding"), len(body), len(answer)})
		mutex.Unlock()
		w.WriteHeader(response.StatusCode)
		_, _ = w.Write(answer)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://"), func() []seen {
		mutex.Lock()
		defer mutex.Unlock()
		defer func() { all = nil }()
		return all
	}
}

// gatewayConn is a connection of a driver over JSON to an address.
func gatewayConn(t *testing.T, d *Driver, address string) load.Conn {
	t.Helper()
	c, err := d.transport.connect(withTimeout(t), 0, address)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The bytes that are counted are those of the bodies on the wire. All requests take one connection.
func TestTheBytesOfBodiesAreThoseOnTheWire(t *testing.T) {
	cluster, _ := oneMember(t)
	d := connected(t, planFor(cluster.Endpoints, over(spec.TransportJSON)))
	address, taken := observed(t, cluster.Endpoints[0])
	c := gatewayConn(t, d, address)
	opened := taken()
	if len(opened) != 1 || d.Bodies() != (results.Bodies{}) {
		t.Errorf("opening the connection sent %v, and counted %+v", opened, d.Bodies())
	}
	key, value := []byte(ownPrefix+"1"), bytes.Repeat([]byte{0xff, 0}, 512)
	do(t, c, load.Request{Operation: spec.OperationPut, Key: key, Value: value, Timeout: time.Minute})
	body := fmt.Sprintf(`{"key":%q,"value":%q}`, base64.StdEncoding.EncodeToString(key), base64.StdEncoding.EncodeToString(value))
	if got := d.Bodies().Sent; got != uint64(len(body)) {
		t.Errorf("%d bytes of a put were counted, wanted %d", got, len(body))
	}
	do(t, c, load.Request{Operation: spec.OperationRange, Key: key, Needs: 1, Timeout: time.Minute})
	var response load.Response
	c.Do(load.WithPhase(t.Context(), results.PhaseMeasured), &load.Request{Operation: spec.OperationRange, Timeout: time.Minute}, &response)
	if response.Code != "InvalidArgument" || response.Detail != "etcdserver: key is not provided" {
		t.Errorf("got %+v, wanted the error of a missing key", response)
	}
	do(t, c, load.Request{Operation: spec.OperationDelete, Key: key, Needs: 1, Timeout: time.Minute})
	want, paths := results.Bodies{}, []string{}
	for _, r := range taken() {
		want.Sent, want.Received = want.Sent+uint64(r.sent), want.Received+uint64(r.received)
		paths = append(paths, r.path)
		if r.from != opened[0].from || r.protocol != "HTTP/1.1" || r.encoding != "" {
			t.Errorf("a request came by %+v, wanted the connection of %+v, HTTP/1.1 and no compression", r, opened[0])
		}
	}
	if got := d.Bodies(); got != want || want.Received < uint64(len(value)*4/3) {
		t.Errorf("counted %+v, and %+v went over the wire", got, want)
	}
	if got := strings.Join(paths, " "); got != "/v3/kv/put /v3/kv/range /v3/kv/range /v3/kv/deleterange" {
		t.Errorf("requests were sent to %s", got)
	}
}

// A failed request has the code that it has over gRPC, and is sent once. The next one is sent, too.
func TestFailuresOverJSONHaveTheCodesOfGRPC(t *testing.T) {
	answering := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/v3/kv/range")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for name, tc := range map[string]struct {
		answer       http.HandlerFunc
		code, detail string
	}{
		"of the gateway":    {answering(503, `{"code":14,"message":"etcdserver: request timed out"}`), "Unavailable", "etcdserver: request timed out"},
		"of etcd 3.4":       {answering(429, `{"error":"etcdserver: too many requests","message":"etcdserver: too many requests","code":8}`), "ResourceExhausted", "etcdserver: too many requests"},
		"of a proxy":        {answering(502, "bad gateway"), "Unavailable", "HTTP 502: bad gateway"},
		"of another server": {answering(418, "a teapot\x1b!"), "Unknown", "HTTP 418: a teapot !"},
		"a redirect":        {answering(307, ""), "Unknown", "HTTP 307: "},
		"no JSON":           {answering(200, "hello"), "Internal", ""},
		"no answer":         {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "DeadlineExceeded", ""},
		"a cut connection":  {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "Unavailable", ""},
		"half of an answer": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9")
			_, _ = w.Write([]byte("{}"))
		}, "Unavailable", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if asked.Add(1) == 1 {
					_, _ = io.WriteString(w, "{}")
					return
				}
				tc.answer(w, r)
			}))
			defer server.Close()
			address := strings.TrimPrefix(server.URL, "http://")
			d := newDriver(t, planFor([]string{address}, over(spec.TransportJSON)), 0)
			d.topology = topology{members: []member{{endpoint: address}}}
			c := gatewayConn(t, d, address)
			request := load.Request{Operation: spec.OperationPut, Key: []byte("k"), Value: []byte("v"), Timeout: 300 * time.Millisecond}
			for n := range uint64(2) {
				var response load.Response
				c.Do(load.WithPhase(t.Context(), results.PhaseMeasured), &request, &response)
				if response.Code != tc.code || tc.detail != "" && response.Detail != tc.detail {
					t.Errorf("got %s: %s, wanted %s: %s", response.Code, response.Detail, tc.code, tc.detail)
				}
				counted := d.Requests()[spec.RPCPut][results.PhaseMeasured]
				if sent := uint64(asked.Load()) - 1; sent != n+1 || counted != n+1 {
					t.Errorf("%d requests were sent %d times and counted %d times", n+1, sent, counted)
				}
			}
		})
	}
}

// A request of a load that is over is canceled. A connection works again when its member is back.
func TestAConnectionOverJSONEndsAndReturns(t *testing.T) {
	cluster, _ := oneMember(t)
	l := newLink(t, cluster.Endpoints[0])
	d := connected(t, planFor([]string{l.address()}, over(spec.TransportJSON)))
	c, err := d.Connect(withTimeout(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	request := load.Request{Operation: spec.OperationRange, Key: []byte(ownPrefix + "1"), Timeout: 5 * time.Second}
	send := func(ctx context.Context) (response load.Response) {
		c.Do(ctx, &request, &response)
		return response
	}
	over, end := context.WithCancel(t.Context())
	end()
	if got := send(over); got.Code != load.CodeCanceled {
		t.Errorf("got %+v, wanted %s", got, load.CodeCanceled)
	}
	l.cut()
	if got := send(t.Context()); got.Code != load.CodeUnavailable {
		t.Errorf("without a connection: got %+v, wanted %s", got, load.CodeUnavailable)
	}
	l.mend()
	if got := send(t.Context()); !got.Succeeded() {
		t.Errorf("after the member has returned: %+v", got)
	}
}

func TestADriverClosesItsConnectionsOverJSON(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }))
	closed := make(chan struct{}, 1)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	server.Start()
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	d := New(planFor([]string{address}, over(spec.TransportJSON)), 0)
	gatewayConn(t, d, address)
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	select {
	case <-closed:
	case <-withTimeout(t).Done():
		t.Error("the connection is still open")
	}
}
