package etcd

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/protobuf/proto"

	"github.com/etcdbench/etcd-benchmark-operator/api/spec"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/etcdtest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/datastore/etcd/servertest"
	"github.com/etcdbench/etcd-benchmark-operator/internal/load"
	"github.com/etcdbench/etcd-benchmark-operator/internal/plan"
	"github.com/etcdbench/etcd-benchmark-operator/internal/results"
)

func preflightReportsTheTarget(t *testing.T, cluster *etcdtest.Cluster) {
	d := newDriver(t, planFor(cluster.Endpoints), 0)
	target, _, err := d.Preflight(withTimeout(t))
	if err != nil {
		t.Fatal(err)
	}
	leader := cluster.Leader(t)
	for i, m := range target.Members {
		want := results.Member{
			ID: cluster.Members[i].Server.MemberID().String(), Name: cluster.Members[i].Config().Name,
			Endpoint: cluster.Endpoints[i], Version: "3.7.3", Leader: i == leader, DatabaseBytes: m.DatabaseBytes, QuotaBytes: 2 << 30,
		}
		if m != want || m.DatabaseBytes == 0 {
			t.Errorf("member %d: got %+v, wanted %+v", i, m, want)
		}
	}
	if want := cluster.Members[0].Server.Cluster().ID().String(); len(target.Members) != 3 || target.ClusterID != want {
		t.Errorf("got %d members of cluster %s, wanted 3 of %s", len(target.Members), target.ClusterID, want)
	}
}

// preflightFails checks that a preflight fails for this reason, and soon.
func preflightFails(t *testing.T, p plan.Plan, reason results.FailureReason, names ...string) {
	t.Helper()
	began := time.Now()
	_, _, err := newDriver(t, p, 0).Preflight(withTimeout(t))
	wantFailure(t, err, reason, names...)
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the preflight took %v to fail", took)
	}
}

func TestPreflightNamesTheAddressThatCannotBeReached(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refusing := closed.Addr().String()
	_ = closed.Close()
	silent := servertest.Accept(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	http := servertest.Accept(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
		_ = c.Close()
	})
	empty := servertest.Accept(t, func(c net.Conn) { _ = c.Close() })
	resets := servertest.Accept(t, func(c net.Conn) {
		_ = c.(*net.TCPConn).SetLinger(0)
		_ = c.Close()
	})
	secure := []func(*plan.Plan){withTLS(etcdtest.NewAuthority(t).SecretDir(t), "")}
	tests := map[string]struct {
		endpoint string
		changes  []func(*plan.Plan)
		names    string
	}{
		"refuses":                      {refusing, nil, "refuses"},
		"accepts and closes":           {empty, nil, "no live member"},
		"accepts and closes, with TLS": {empty, secure, "no live member"},
		"accepts and resets":           {resets, nil, "no live member"},
		"does not resolve":             {"no-such-host.invalid:2379", nil, "resolve"},
		"accepts and is mute":          {silent, nil, "does not answer"},
		"is not etcd":                  {http, nil, "gRPC"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			preflightFails(t, planFor([]string{tc.endpoint}, tc.changes...), results.FailureTargetUnreachable, tc.endpoint, tc.names)
		})
	}
}

func withTLS(dir, serverName string) func(*plan.Plan) {
	return func(p *plan.Plan) {
		p.Target.TLS = &plan.TLS{Dir: dir, SecretName: "etcd-client-tls", ServerName: serverName}
	}
}

// secretWithout is a copy of a Secret's folder that lacks some keys.
func secretWithout(t *testing.T, dir string, keys ...string) string {
	t.Helper()
	out := t.TempDir()
	if err := os.CopyFS(out, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if err := os.Remove(filepath.Join(out, key)); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestPreflightSaysWhatIsWrongWithTLS(t *testing.T) {
	t.Parallel()
	authority, other := etcdtest.NewAuthority(t), etcdtest.NewAuthority(t)
	secure, plain := etcdtest.Start(t, 1, authority), etcdtest.Start(t, 1, nil)
	good := authority.SecretDir(t)
	mixed := secretWithout(t, good, plan.CAFile)
	if err := os.CopyFS(mixed, os.DirFS(secretWithout(t, other.SecretDir(t), plan.CertFile, plan.KeyFile))); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		cluster *etcdtest.Cluster
		change  func(*plan.Plan)
		names   string
	}{
		"another CA":               {secure, withTLS(mixed, ""), "ca.crt"},
		"a name not covered":       {secure, withTLS(good, "etcd.example"), "serverName"},
		"no client certificate":    {secure, withTLS(secretWithout(t, good, plan.CertFile, plan.KeyFile), ""), "tls.crt"},
		"TLS where there is none":  {plain, withTLS(good, ""), "does not speak TLS"},
		"plain text where TLS is":  {secure, func(*plan.Plan) {}, "target.tls"},
		"another CA of the client": {secure, withTLS(clientOf(t, other, authority), ""), "client certificate"},
		"an expired client":        {secure, withTLS(authority.ExpiredSecretDir(t), ""), "expired on"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			preflightFails(t, planFor(tc.cluster.Endpoints, tc.change), results.FailureTLSFailed, tc.cluster.Endpoints[0], tc.names)
		})
	}
}

// clientOf is a Secret with a client certificate of one authority and the CA of another.
func clientOf(t *testing.T, client, ca *etcdtest.Authority) string {
	t.Helper()
	dir := secretWithout(t, client.SecretDir(t), plan.CAFile)
	pem, err := os.ReadFile(filepath.Join(ca.SecretDir(t), plan.CAFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, plan.CAFile), pem, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestPreflightSaysWhatTheSecretLacks(t *testing.T) {
	good := etcdtest.NewAuthority(t).SecretDir(t)
	garbled := secretWithout(t, good, plan.CAFile)
	if err := os.WriteFile(filepath.Join(garbled, plan.CAFile), []byte("not PEM"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		change func(*plan.Plan)
		names  []string
	}{
		"no Secret":        {withTLS(filepath.Join(t.TempDir(), "absent"), ""), []string{"etcd-client-tls", "does not exist", "ca.crt"}},
		"no CA":            {withTLS(secretWithout(t, good, plan.CAFile), ""), []string{"etcd-client-tls", "no key ca.crt"}},
		"no tls.crt":       {withTLS(secretWithout(t, good, plan.CertFile), ""), []string{"etcd-client-tls", "no key tls.crt"}},
		"no tls.key":       {withTLS(secretWithout(t, good, plan.KeyFile), ""), []string{"etcd-client-tls", "no key tls.key"}},
		"no PEM in ca.crt": {withTLS(garbled, ""), []string{"etcd-client-tls", "ca.crt"}},
		"no password":      {withUser(t, "reader", ""), []string{"etcd-user", "no key password"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			preflightFails(t, planFor([]string{"127.0.0.1:1"}, tc.change), results.FailureSecretInvalid, tc.names...)
		})
	}
}

// withUser sets a Secret with a user; an empty password means that the key is missing.
func withUser(t *testing.T, name, password string) func(*plan.Plan) {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{plan.UsernameFile: name, plan.PasswordFile: password}
	for file, content := range files {
		if content == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(p *plan.Plan) { p.Target.Auth = &plan.Auth{Dir: dir, SecretName: "etcd-user"} }
}

// enableAuth creates three users: root; bench, with all rights under the run's prefix; and guest, without rights.
func enableAuth(t *testing.T, c *clientv3.Client) {
	t.Helper()
	ctx := t.Context()
	steps := []func() error{
		func() error { _, err := c.UserAdd(ctx, "root", "secret"); return err },
		func() error { _, err := c.UserGrantRole(ctx, "root", "root"); return err },
		func() error { _, err := c.RoleAdd(ctx, "bench"); return err },
		func() error {
			_, err := c.RoleGrantPermission(ctx, "bench", ownPrefix, clientv3.GetPrefixRangeEnd(ownPrefix), clientv3.PermissionType(clientv3.PermReadWrite))
			return err
		},
		func() error { _, err := c.UserAdd(ctx, "bench", "benchpass"); return err },
		func() error { _, err := c.UserGrantRole(ctx, "bench", "bench"); return err },
		func() error { _, err := c.UserAdd(ctx, "guest", "guestpass"); return err },
		func() error { _, err := c.AuthEnable(ctx); return err },
	}
	for i, step := range steps {
		if err := step(); err != nil {
			t.Fatalf("step %d of enabling authentication: %v", i, err)
		}
	}
}

func TestPreflightSaysWhatIsWrongWithTheUser(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	enableAuth(t, client)
	t.Run("wrong password", func(t *testing.T) {
		preflightFails(t, planFor(cluster.Endpoints, withUser(t, "bench", "guess")), results.FailureAuthenticationFailed, cluster.Endpoints[0], "password")
	})
	t.Run("no user", func(t *testing.T) {
		preflightFails(t, planFor(cluster.Endpoints), results.FailureAuthenticationFailed, cluster.Endpoints[0], "target.auth")
	})
	t.Run("no permission", func(t *testing.T) {
		d := newDriver(t, planFor(cluster.Endpoints, withUser(t, "guest", "guestpass")), 0)
		if _, _, err := d.Preflight(withTimeout(t)); err != nil {
			t.Fatal(err)
		}
		wantFailure(t, d.Claim(withTimeout(t)), results.FailureAuthenticationFailed, "permit")
	})
}

func TestPreflightRefusesATargetThatCannotServe(t *testing.T) {
	t.Parallel()
	cluster, client := oneMember(t)
	another := etcdtest.Start(t, 1, nil)
	t.Run("addresses of two clusters", func(t *testing.T) {
		endpoints := append([]string{cluster.Endpoints[0]}, another.Endpoints...)
		preflightFails(t, planFor(endpoints), results.FailureTargetUnhealthy, endpoints[0], endpoints[1])
	})
	t.Run("followers of a single member", func(t *testing.T) {
		preflightFails(t, planFor(cluster.Endpoints, func(p *plan.Plan) { p.Target.Members = spec.MembersFollowers }),
			results.FailureTargetUnhealthy, "Followers")
	})
	for name, kind := range map[string]etcdserverpb.AlarmType{"NOSPACE": etcdserverpb.AlarmType_NOSPACE, "CORRUPT": etcdserverpb.AlarmType_CORRUPT} {
		t.Run("the alarm "+name, func(t *testing.T) {
			alarm(t, client, etcdserverpb.AlarmRequest_ACTIVATE, kind)
			defer alarm(t, client, etcdserverpb.AlarmRequest_DEACTIVATE, kind)
			preflightFails(t, planFor(cluster.Endpoints), results.FailureAlarmRaised, cluster.Endpoints[0], name)
		})
	}
}

func alarm(t *testing.T, client *clientv3.Client, action etcdserverpb.AlarmRequest_AlarmAction, kind etcdserverpb.AlarmType) {
	t.Helper()
	request := &etcdserverpb.AlarmRequest{Action: action, Alarm: kind}
	if _, err := etcdserverpb.NewMaintenanceClient(client.ActiveConnection()).Alarm(t.Context(), request); err != nil {
		t.Fatal(err)
	}
}

func TestATargetWithoutQuorumIsUnhealthy(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 3, nil)
	leader := cluster.Leader(t)
	left := (leader + 1) % 3
	p := planFor(cluster.Endpoints[left : left+1])
	d := newDriver(t, p, 0)
	if _, _, err := d.Preflight(withTimeout(t)); err != nil {
		t.Fatal(err)
	}
	cluster.Stop(leader)
	cluster.Stop((leader + 2) % 3)
	t.Run("claim", func(t *testing.T) {
		wantFailure(t, d.Claim(withTimeout(t)), results.FailureTargetUnhealthy, "majority")
	})
	// By now the remaining member has noticed the loss.
	t.Run("preflight", func(t *testing.T) {
		preflightFails(t, p, results.FailureNoQuorum, "no leader")
	})
}

// With one member down, the preflight names that member. With two down, it names the lost majority.
func TestPreflightDistinguishesALostMemberFromALostMajority(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 3, nil)
	p := planFor(cluster.Endpoints)
	cluster.Stop(0)
	t.Run("one of three", func(t *testing.T) {
		preflightFails(t, p, results.FailureTargetUnreachable, cluster.Endpoints[0], "refuses connections", "unreachableMembers")
	})
	t.Run("one of three, which the run skips", func(t *testing.T) {
		p := planFor(cluster.Endpoints, skipsUnreachable)
		d := newDriver(t, p, 0)
		// A run that waits for the lock checks the target twice.
		for range 2 {
			target, _, err := d.Preflight(withTimeout(t))
			if err != nil {
				t.Fatal(err)
			}
			if why := target.Skipped[cluster.Endpoints[0]]; len(target.Skipped) != 1 || !strings.Contains(why, "refuses connections") {
				t.Errorf("skipped %v, wanted only the stopped member", target.Skipped)
			}
		}
		for connection := range p.Load.Connections {
			if _, err := d.Connect(withTimeout(t), int(connection)); err != nil {
				t.Errorf("connection %d: %v", connection, err)
			}
		}
	})
	cluster.Stop(1)
	t.Run("two of three", func(t *testing.T) {
		preflightFails(t, p, results.FailureNoQuorum, "1 of 3 addresses", "majority", cluster.Endpoints[0], cluster.Endpoints[1])
	})
	t.Run("two of three, which the run would skip", func(t *testing.T) {
		preflightFails(t, planFor(cluster.Endpoints, skipsUnreachable), results.FailureNoQuorum, "1 of 3 addresses")
	})
	t.Run("a user who cannot log in without a majority", func(t *testing.T) {
		preflightFails(t, planFor(cluster.Endpoints, withUser(t, "bench", "secret")), results.FailureNoQuorum, "1 of 3 addresses")
	})
	cluster.Stop(2)
	t.Run("all of three", func(t *testing.T) {
		preflightFails(t, planFor(cluster.Endpoints, skipsUnreachable), results.FailureTargetUnreachable, append(cluster.Endpoints, "refuses connections")...)
	})
}

// kine answers like a member without ID and leader. That is not a lost majority.
func TestPreflightRefusesAServerWithoutMembers(t *testing.T) {
	t.Parallel()
	cluster, _ := oneMember(t)
	proxy := etcdtest.StartProxy(t, cluster.Endpoints[0], func(_ context.Context, method string, _ []byte, forward func() ([]byte, error)) ([]byte, error) {
		if path.Base(method) == "Status" {
			return proto.Marshal(&etcdserverpb.StatusResponse{Header: &etcdserverpb.ResponseHeader{}, DbSize: 4096, Version: "3.7.0"})
		}
		return forward()
	})
	preflightFails(t, planFor([]string{proxy}), results.FailureUnsupported, proxy, "kine")
}

func skipsUnreachable(p *plan.Plan) { p.Target.UnreachableMembers = spec.UnreachableSkip }

// If the context ends, the error is the context's and not an explanation.
func TestAnInterruptedPreflightReturnsTheContextsError(t *testing.T) {
	silent := servertest.Accept(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := newDriver(t, planFor([]string{silent}), 0).Preflight(ctx)
	if _, explained := errors.AsType[*load.Error](err); explained || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, wanted the context's error alone", err)
	}
}
