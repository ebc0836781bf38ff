//go:build stores

package zookeeper

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/certificates"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/zookeeper/zookeepertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

const securePort = "2281"

// serverFiles writes the files of a server that ZooKeeper reads: the certificate with its key in PKCS #8, and the CA.
func serverFiles(t *testing.T, authority *etcdtest.Authority) (keyStore, trustStore string) {
	t.Helper()
	cert, key, err := authority.Issue(certificates.Holder{Name: "server", Hosts: []string{"zookeeper.example"}})
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(key)
	private, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	keyStore, trustStore = filepath.Join(dir, "server.pem"), filepath.Join(dir, "ca.pem")
	for path, data := range map[string][]byte{
		keyStore: slices.Concat(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), cert), trustStore: authority.Certificate(),
	} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return keyStore, trustStore
}

// A ZooKeeper that serves TLS and requires a client certificate. Its AdminServer serves TLS, too. Both sides may expect the
// other protocol.
func TestTLS(t *testing.T) {
	t.Parallel()
	authority := etcdtest.NewAuthority(t)
	keyStore, trustStore := serverFiles(t, authority)
	server := zookeepertest.Start(t, 1,
		"serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
		"secureClientPort="+securePort, "secureClientPortAddress=HOST", "maxClientCnxns=10",
		"ssl.keyStore.location="+keyStore, "ssl.trustStore.location="+trustStore,
		"ssl.quorum.keyStore.location="+keyStore, "ssl.quorum.trustStore.location="+trustStore, "admin.forceHttps=true",
	)[0]
	secure := net.JoinHostPort(server.Host, securePort)
	to := func(address string, changes ...func(*plan.Plan)) plan.Plan {
		return planFor([]string{address}, append([]func(*plan.Plan){doing(works["a mixture"]), func(p *plan.Plan) { p.Load.Pods = 1 }}, changes...)...)
	}
	dir := authority.SecretDir(t)
	withTLS := func(p *plan.Plan) {
		p.Target.TLS = &plan.TLS{Dir: dir, SecretName: "certs", ServerName: "zookeeper.example"}
	}
	if succeeded, failed := ended(run(t, to(secure, withTLS))...); succeeded != 1_000 || failed > 0 {
		t.Errorf("%d succeeded and %d failed", succeeded, failed)
	}
	for name, tc := range map[string]struct {
		plan   plan.Plan
		reason results.FailureReason
		words  string
	}{
		"plain text wanted":    {to(secure), results.FailureTLSFailed, "serves TLS"},
		"TLS wanted":           {to(server.Endpoint(), withTLS), results.FailureTLSFailed, "does not speak TLS"},
		"another name":         {to(secure, withTLS, func(p *plan.Plan) { p.Target.TLS.ServerName = "a" }), results.FailureTLSFailed, "zookeeper.example"},
		"too many connections": {to(secure, withTLS, func(p *plan.Plan) { p.Load.Connections = 9 }), results.FailureTargetUnhealthy, "takes 10 connections"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := driverOf(t, tc.plan, 0).Preflight(bounded(t))
			wantReason(t, err, tc.reason, tc.words)
		})
	}
}

func asUser(name string) func(*plan.Plan) {
	return func(p *plan.Plan) {
		p.Target.Auth = &plan.Auth{Given: plan.Given{plan.UsernameFile: {Content: name}, plan.PasswordFile: {Content: "secret"}}}
	}
}

// The znodes of a run with a user are of that user alone. Every run sees its lock.
func TestZnodesBelongToTheUser(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	client := zookeepertest.Client(t, server.Endpoint())
	_, empty := counted(t, server)
	for _, name := range []string{"new keys", "transactions of old keys"} {
		snapshots := run(t, planFor([]string{server.Endpoint()}, doing(works[name]), asUser("alice")))
		sent, _ := requests(snapshots...)
		if succeeded, failed := ended(snapshots...); succeeded != 1_000 || failed > 0 || sent[spec.RPCAuth] != sent[spec.RPCCreateSession] {
			t.Errorf("%d succeeded and %d failed: %v", succeeded, failed, sent)
		}
	}
	if _, now := counted(t, server); now != empty+outerNodes {
		t.Errorf("wanted %d znodes, found %d", empty+outerNodes, now)
	}
	p := planFor([]string{server.Endpoint()}, asUser("alice"))
	owner := driverOf(t, p, 0)
	c, do := connected(t, p)
	key := []byte(ownPrefix + "00000001")
	if resp := do(&load.Request{Operation: spec.OperationPut, Key: key}); resp.Code != "" {
		t.Fatal(resp.Detail)
	}
	for _, path := range []string{c.tree.root, c.tree.path(key)} {
		if _, _, err := client.Get(path); err != zk.ErrNoAuth {
			t.Errorf("%s can be read without the user: %v", path, err)
		}
	}
	wantReason(t, driverOf(t, planFor([]string{server.Endpoint()}, asUser("bob")), 0).Claim(bounded(t)), results.FailureTargetUnhealthy, "ACLs")
	if held, err := owner.Lock(bounded(t)); err != nil || held.State != load.Held {
		t.Fatalf("%+v, %v", held, err)
	}
	other := driverOf(t, planFor([]string{server.Endpoint()}, func(p *plan.Plan) { p.RunUID = otherUID }), 0)
	if held, err := other.Lock(bounded(t)); err != nil || held.State != load.HeldByOther {
		t.Errorf("wanted that another run sees the lock, found %+v, %v", held, err)
	}
}

// timeouts returns the time-outs of the sessions of a server, in milliseconds.
func timeouts(t *testing.T, s *zookeepertest.Server) (all []int) {
	t.Helper()
	response, err := http.Get(s.Admin("connections"))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var found struct {
		Connections []struct {
			Timeout int `json:"session_timeout"`
		} `json:"connections"`
	}
	if err := json.NewDecoder(response.Body).Decode(&found); err != nil {
		t.Fatal(err)
	}
	for _, c := range found.Connections {
		all = append(all, c.Timeout)
	}
	return all
}

// A session of the load has the time-out of the plan. If its connection is lost for longer, requests fail, and the loss is
// counted with its length.
func TestSessionsThatAreCutAreCounted(t *testing.T) {
	t.Parallel()
	server := zookeepertest.Start(t, 1)[0]
	p := planFor([]string{server.Endpoint()}, func(p *plan.Plan) {
		p.Load.Requests, p.Load.RequestTimeoutSeconds, p.Load.SessionTimeoutSeconds = new(int64(5_000)), 1, new(int32(5))
		p.Load.Rate = &spec.Rate{PerSecond: 500, Arrival: spec.ArrivalConstant}
	})
	session, done := begin(t, p)
	ctx := bounded(t)
	await(t, ctx, func() bool { succeeded, _ := ended(session.Snapshot()); return succeeded > 100 })
	if found := timeouts(t, server); !slices.Contains(found, 5_000) {
		t.Errorf("wanted sessions of 5 s, found %v", found)
	}
	resume := server.Pause(t)
	await(t, ctx, func() bool { return session.Snapshot().Sessions.Cuts >= uint64(p.Load.Connections) })
	resume()
	s := <-done
	if s.Sessions.LongestCut <= 0 || s.Sessions.Timeout != 5*time.Second {
		t.Errorf("wanted the length of the longest loss, and a time-out of 5 s, found %+v", s.Sessions)
	}
	if failed := s.Operations[spec.OperationPut].Errors[load.CodeUnavailable]; failed == 0 {
		t.Errorf("wanted requests that failed as Unavailable, found %+v", s.Operations[spec.OperationPut].Errors)
	}
	if s.Cleaning != results.CleaningKeysDeleted {
		t.Errorf("ended with %s", s.Cleaning)
	}
}

// A server closes the connection of a request above its jute.maxbuffer. The session is resumed for the next request.
func TestARequestThatIsTooLargeFails(t *testing.T) {
	t.Parallel()
	const limit = 300_000
	server := zookeepertest.Start(t, 1, "-Djute.maxbuffer=300000")[0]
	p := planFor([]string{server.Endpoint()}, func(p *plan.Plan) { p.Workload.Put.Values.SizeBytes = limit })
	_, do := connected(t, p)
	put := func(key string, size int) load.Response {
		return do(&load.Request{Operation: spec.OperationPut, Key: []byte(ownPrefix + key), Value: make([]byte, size)})
	}
	for key, size := range map[string]int{"00000001": limit - 1_000, "00000002": limit} {
		if resp := put(key, size); (resp.Code == "") != (size < limit) || size >= limit && resp.Code != load.CodeUnavailable {
			t.Errorf("a value of %d bytes: %+v", size, resp)
		}
	}
	if resp := put("00000003", 10); resp.Code != "" {
		t.Errorf("after it: %+v", resp)
	}
}
